import { withLine } from './path.ts';
import { MiddleText } from './middle-text.tsx';

/** A place in a file as a link; the tooltip has the whole path. `open` gets the place. */
export function FileLink({ path, line, text, open, class: extra }: {
  path: string; line?: number; text?: string; open: (path: string, line?: number) => void; class?: string;
}) {
  return (
    <a href="#" class={`file-link${extra ? ` ${extra}` : ''}`} title={withLine(path, line)} aria-label={text ?? withLine(path, line)}
      onClick={(event) => {
        event.preventDefault();
        event.stopPropagation();
        open(path, line);
      }}>
      <MiddleText text={text ?? withLine(path, line)} />
    </a>
  );
}
