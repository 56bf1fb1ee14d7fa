import { splitMiddle } from './path.ts';

/** Text on one line that loses its middle, not its end, when the room is small: for paths. */
export function MiddleText({ text }: { text: string }) {
  const { head, tail } = splitMiddle(text);
  if (tail === '') return <span class="middle-head">{text}</span>;
  return (
    <span class="middle">
      <span class="middle-head">{head}</span>
      <span class="middle-tail">{tail}</span>
    </span>
  );
}
