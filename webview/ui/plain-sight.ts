/**
 * Text as it will be read by a machine: the controls that turn the direction of writing around are drawn as their
 * names, so that what is approved is what is seen. Letters of right-to-left scripts are left alone.
 */
export function inPlainSight(text: string): string {
  return /[\u202a-\u202e\u2066-\u2069]/.test(text)
    ? text.replace(/[\u202a-\u202e\u2066-\u2069]/g, (control) => `⟨U+${control.charCodeAt(0).toString(16).toUpperCase()}⟩`)
    : text;
}
