import type { Component, ComponentChild, FunctionComponent } from 'preact';

function differs(a: object, b: object): boolean {
  for (const key in a) if (!(key in b)) return true;
  for (const key in b) if ((a as Record<string, unknown>)[key] !== (b as Record<string, unknown>)[key]) return true;
  return false;
}

/** The component again, drawn only when one of its props is another value. */
export function memo<P extends object>(render: (props: P) => ComponentChild): FunctionComponent<P> {
  return function Memo(this: Component<P>, props: P) {
    this.shouldComponentUpdate = (next) => differs(this.props, next);
    return render(props);
  } as FunctionComponent<P>;
}
