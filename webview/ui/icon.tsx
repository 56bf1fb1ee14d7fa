/** A codicon. Without `label` it is decoration; with one it has a name for screen readers and a tooltip. */
export function Icon({ name, label, spin, class: extra }: { name: string; label?: string; spin?: boolean; class?: string }) {
  const classes = `codicon codicon-${name}${spin ? ' codicon-modifier-spin' : ''}${extra ? ` ${extra}` : ''}`;
  return label === undefined ? <span class={classes} aria-hidden="true" /> : <span class={classes} role="img" aria-label={label} title={label} />;
}
