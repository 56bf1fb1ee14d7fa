/** How near to the end counts as being there, px. */
const NEAR = 32;

export type Pill = 'none' | 'down' | 'new';

/** Keeps a scroller at its end while it grows, and lets it alone as soon as the user reads or selects above. */
export class StickyScroll {
  private following = true;
  private pill: Pill = 'none';
  private readonly scroller: HTMLElement;
  private readonly show: (pill: Pill) => void;
  private readonly observer: ResizeObserver;
  private readonly abort = new AbortController();
  private last = 0;

  constructor(scroller: HTMLElement, content: HTMLElement, show: (pill: Pill) => void) {
    this.scroller = scroller;
    this.show = show;
    this.observer = new ResizeObserver(() => this.follow());
    this.observer.observe(content);
    this.observer.observe(scroller);
    scroller.addEventListener('scroll', () => this.scrolled(), { passive: true, signal: this.abort.signal });
  }

  /** The content has more than before. */
  grown(): void {
    if (this.follow()) return;
    if (this.distance() > NEAR) this.setPill('new');
  }

  /** To the end, and stay there. */
  toEnd(): void {
    this.following = true;
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.setPill('none');
  }

  /** Stop following: the user looks at something above. */
  release(): void {
    this.following = false;
  }

  dispose(): void {
    this.observer.disconnect();
    this.abort.abort();
  }

  private follow(): boolean {
    if (!this.following || this.selecting()) return false;
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.last = this.scroller.scrollTop;
    return true;
  }

  private scrolled(): void {
    const top = this.scroller.scrollTop;
    const up = top < this.last;
    this.last = top;
    if (this.distance() <= NEAR) {
      this.following = true;
      this.setPill('none');
    } else if (up || !this.following) {
      this.following = false;
      if (this.pill === 'none') this.setPill('down');
    }
  }

  private distance(): number {
    return this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight;
  }

  private selecting(): boolean {
    const selection = document.getSelection();
    return selection !== null && !selection.isCollapsed && selection.anchorNode !== null && this.scroller.contains(selection.anchorNode);
  }

  private setPill(pill: Pill): void {
    if (pill === this.pill) return;
    this.pill = pill;
    this.show(pill);
  }
}
