import { Component } from 'preact';
import type { ComponentChildren } from 'preact';
import { describe } from './host.ts';

interface Props { children: ComponentChildren; /** Another value means: try again. */ subject: unknown; fallback: () => ComponentChildren; report: (message: string) => void }

/** Draws `fallback` in place of children that throw, so that one bad card never blanks the view. */
export class Boundary extends Component<Props, { failed: unknown }> {
  override state: { failed: unknown } = { failed: undefined };

  override componentDidCatch(error: unknown): void {
    this.props.report(`drawing failed: ${describe(error)}`);
    this.setState({ failed: this.props.subject });
  }

  override render({ children, subject, fallback }: Props) {
    return this.state.failed !== undefined && this.state.failed === subject ? fallback() : children;
  }
}
