import { splitMiddle } from './path.ts';
import { inPlainSight } from './plain-sight.ts';

/** Text on one line that loses its middle, not its end, when the room is small: for paths. */
export function MiddleText({ text: given }: { text: string }) {
  const text = inPlainSight(given);
  const { head, tail } = splitMiddle(text);
  if (tail === '') return <span class="middle-head">{text}</span>;
  return (
    <span class="middle">
      <span class="middle-head">{head}</span>
      <span class="middle-tail">{tail}</span>
    </span>
  );
}
