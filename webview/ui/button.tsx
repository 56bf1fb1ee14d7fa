import type { ComponentChildren } from 'preact';
import { Icon } from './icon.tsx';
import './toolkit.ts';

interface ButtonProps {
  children: ComponentChildren; onClick: () => void; primary?: boolean; disabled?: boolean;
  /** Tooltip; also says more than the label to screen readers. */
  title?: string;
}

/** A button with words on it. */
export function Button({ children, onClick, primary, disabled, title }: ButtonProps) {
  return (
    <vscode-button appearance={primary ? 'primary' : 'secondary'} disabled={disabled ?? false} title={title} onClick={onClick}>
      {children}
    </vscode-button>
  );
}

interface IconButtonProps {
  icon: string; label: string; onClick: (event: MouseEvent) => void; disabled?: boolean; pressed?: boolean; class?: string;
}

/** A toolbar button: an icon, its name in the tooltip and for screen readers. */
export function IconButton({ icon, label, onClick, disabled, pressed, class: extra }: IconButtonProps) {
  return (
    <button type="button" class={`icon-button${extra ? ` ${extra}` : ''}`} title={label} aria-label={label} aria-pressed={pressed} disabled={disabled} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
}

/** A quiet button that reads like a link and does something here. */
export function TextButton({ children, onClick, title, class: extra }: { children: ComponentChildren; onClick: () => void; title?: string; class?: string }) {
  return (
    <button type="button" class={`text-button${extra ? ` ${extra}` : ''}`} title={title} onClick={onClick}>
      {children}
    </button>
  );
}
