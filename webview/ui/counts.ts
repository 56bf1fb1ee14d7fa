import * as l10n from '@vscode/l10n';
import { formatNumber } from './l10n.ts';

/** `250 of 10,000 results in 3 files`: `listed` are shown, `total` were found. */
export function matchCount(listed: number, total: number, files: number, truncated: boolean): string {
  const of = formatNumber(total);
  if (truncated || total > listed) {
    return files === 1 ? l10n.t('{0} of {1} results in 1 file', formatNumber(listed), of) : l10n.t('{0} of {1} results in {2} files', formatNumber(listed), of, formatNumber(files));
  }
  if (total === 1) return l10n.t('1 result in 1 file');
  return files === 1 ? l10n.t('{0} results in 1 file', of) : l10n.t('{0} results in {1} files', of, formatNumber(files));
}

/** `250 of 10,000 files` */
export function pathCount(listed: number, total: number, truncated: boolean): string {
  if (truncated || total > listed) return l10n.t('{0} of {1} files', formatNumber(listed), formatNumber(total));
  return total === 1 ? l10n.t('1 file') : l10n.t('{0} files', formatNumber(total));
}
