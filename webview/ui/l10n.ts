import * as l10n from '@vscode/l10n';

let locale = 'en';

/** To be called once, before anything is drawn. */
export function setLanguage(bundle: Record<string, string> | null, tag: string): void {
  if (bundle !== null) l10n.config({ contents: bundle });
  try {
    locale = Intl.getCanonicalLocales(tag)[0] ?? 'en';
  } catch {
    locale = 'en';
  }
}

/** `1,234` in the user's language. */
export function formatNumber(value: number): string {
  return new Intl.NumberFormat(locale).format(value);
}

const STEPS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_536_000_000], ['month', 2_592_000_000], ['week', 604_800_000], ['day', 86_400_000], ['hour', 3_600_000], ['minute', 60_000],
];

/** `2 hours ago`; `time` and `now` are ms since the epoch. */
export function formatAgo(time: number, now: number): string {
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' });
  for (const [unit, length] of STEPS) {
    if (now - time >= length) return format.format(-Math.floor((now - time) / length), unit);
  }
  return format.format(0, 'second');
}

/** A calendar date as the user's language writes it; the text as it came when it is none. */
export function formatDate(text: string): string {
  const time = Date.parse(text);
  return Number.isNaN(time) ? text : new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' }).format(time);
}

/** A date and time as the user's language writes them; `time` is ms since the epoch. */
export function formatTime(time: number): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' }).format(time);
}
