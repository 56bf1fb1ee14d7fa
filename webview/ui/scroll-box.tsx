import type { ComponentChildren, RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/**
 * A box that may have more in it than it shows: the Tab key stops there only while there is something to scroll to.
 * `still`: what is in it grows many times a second, so it is not measured.
 */
export function ScrollBox({ as: Tag = 'div', label, class: name, box, still, children }: {
  as?: 'div' | 'pre'; label: string; class?: string; box?: RefObject<HTMLElement | null>; still?: boolean; children: ComponentChildren;
}) {
  const own = useRef<HTMLElement>(null);
  const node = box ?? own;
  const look = (): void => {
    const { current } = node;
    if (current === null || still) return;
    if (current.scrollHeight > current.clientHeight + 1 || current.scrollWidth > current.clientWidth + 1) current.tabIndex = 0;
    else current.removeAttribute('tabindex');
  };
  useLayoutEffect(look);
  useLayoutEffect(() => {
    const { current } = node;
    if (current === null) return undefined;
    const observer = new ResizeObserver(look);
    observer.observe(current);
    return () => observer.disconnect();
  }, [still]);
  // the two kinds of element take the same ref
  return <Tag ref={node as RefObject<never>} class={name} role="group" aria-label={label}>{children}</Tag>;
}
