import { splitMiddle } from './path.ts';
import { inPlainSight } from './plain-sight.ts';

/** Characters of a head that is never cut: its dots would take as much room. */
const SHORT = 4;

/** Text on one line that loses its middle, not its end, when the room is small: for paths. */
export function MiddleText({ text: given }: { text: string }) {
  const text = inPlainSight(given);
  const { head, tail } = splitMiddle(text);
  if (tail === '') return <span class="middle-head">{text}</span>;
  return (
    <span class="middle">
      <span class={head.length > SHORT ? 'middle-head' : 'middle-head middle-short'}>{head}</span>
      <span class="middle-tail">{tail}</span>
    </span>
  );
}
