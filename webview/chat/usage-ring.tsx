import * as l10n from '@vscode/l10n';
import type { ChatMeta } from '../../src/protocol.ts';
import { formatNumber } from '../ui/l10n.ts';

const LENGTH = 2 * Math.PI * 6;

/** How full the model's window is: a ring and a percentage; nothing when the window is not known. */
export function UsageRing({ usage }: { usage: NonNullable<ChatMeta['usage']> }) {
  const { used, window } = usage;
  if (used <= 0 || window === undefined || window <= 0) return null;
  const part = Math.min(1, used / window);
  const percent = Math.round(part * 100);
  const text = l10n.t('{0}% of the context used: {1} of {2} tokens', percent, formatNumber(used), formatNumber(window));
  return (
    <span class={part > 0.85 ? 'usage usage-high' : 'usage'} title={text} role="img" aria-label={text}>
      <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
        <circle class="usage-track" cx="8" cy="8" r="6" fill="none" stroke-width="2" />
        <circle class="usage-part" cx="8" cy="8" r="6" fill="none" stroke-width="2" stroke-dasharray={`${LENGTH * part} ${LENGTH}`} transform="rotate(-90 8 8)" />
      </svg>
      <span class="usage-percent">{percent}%</span>
    </span>
  );
}
