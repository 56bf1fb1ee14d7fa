interface Key { readonly key: string; readonly isComposing?: boolean; readonly keyCode?: number; readonly shiftKey?: boolean }

/** A key that belongs to an input method (O1): 229 is what a browser reports for keys the method has taken. */
export function isComposing(event: Key): boolean {
  return event.isComposing === true || event.keyCode === 229;
}

/** Enter that was meant as Enter, not as the end of a composition. */
export function isEnter(event: Key): boolean {
  return event.key === 'Enter' && !isComposing(event);
}
