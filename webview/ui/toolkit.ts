import './nonce.ts';
import { provideVSCodeDesignSystem, vsCodeButton } from '@vscode/webview-ui-toolkit';
import type { HTMLAttributes } from 'preact';

/** The one place that knows the toolkit. Only what is used is registered: all of it weighs four times as much. */
provideVSCodeDesignSystem().register(vsCodeButton());

declare module 'preact' {
  namespace JSX {
    interface IntrinsicElements {
      'vscode-button': HTMLAttributes<HTMLElement> & { appearance?: 'primary' | 'secondary'; disabled?: boolean; 'aria-label'?: string };
    }
  }
}
