import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ComponentChildren, RefObject } from 'preact';

/** Rows drawn above and below what is visible. */
const SPARE = 8;

/**
 * A list of rows of one height of which only the visible ones are in the page. It keeps the focus itself and names the
 * active row, so that rows may come and go.
 */
export function VirtualList({ count, height, active, role, label, activeId, draw, onKeyDown, box }: {
  count: number; /** px */ height: number; active: number; role: 'tree' | 'listbox'; label: string; activeId: string | undefined;
  draw: (at: number) => ComponentChildren; onKeyDown: (event: KeyboardEvent, page: number) => void; box: RefObject<HTMLDivElement | null>;
}) {
  const [top, setTop] = useState(0);
  const [room, setRoom] = useState(600);
  const last = useRef(active);
  useLayoutEffect(() => {
    const node = box.current;
    if (node === null) return undefined;
    const observer = new ResizeObserver(() => setRoom(node.clientHeight));
    observer.observe(node);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    const node = box.current;
    if (node === null || last.current === active) return;
    last.current = active;
    const at = active * height;
    if (at < node.scrollTop) node.scrollTop = at;
    else if (at + height > node.scrollTop + node.clientHeight) node.scrollTop = at + height - node.clientHeight;
  }, [active]);
  const from = Math.max(0, Math.floor(top / height) - SPARE);
  const to = Math.min(count, Math.ceil((top + room) / height) + SPARE);
  return (
    <div class="virtual" ref={box} role={role} aria-label={label} aria-activedescendant={activeId} tabIndex={0}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)} onKeyDown={(event) => onKeyDown(event, Math.max(1, Math.floor(room / height) - 1))}>
      <div class="virtual-content" role="presentation" style={{ height: `${count * height}px` }}>
        <div class="virtual-window" role="presentation" style={{ transform: `translateY(${from * height}px)` }}>
          {Array.from({ length: Math.max(0, to - from) }, (_, at) => draw(from + at))}
        </div>
      </div>
    </div>
  );
}
