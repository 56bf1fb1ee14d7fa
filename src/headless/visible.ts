/**
 * Text for a terminal, as it is: what would move the cursor, colour, erase, or turn the direction of writing around is
 * drawn as its number. What a file, a command or a model says must not be able to repaint what was said before it.
 */
export function visible(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, (control) => (
    `⟨U+${control.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`
  ));
}
