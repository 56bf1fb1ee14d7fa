/** The escalation fields, which this composition does not offer (B10.23). */
export function refuseEscalation(args: object): void {
  const { sandbox_permissions: mode, justification } = args as { sandbox_permissions?: unknown; justification?: unknown };
  if (mode === undefined && justification === undefined) return;
  if (justification === undefined) throw new Error('invalid escalation: sandbox_permissions requires a justification');
  if (mode === undefined) throw new Error('invalid escalation: justification is only valid together with sandbox_permissions');
  if (typeof justification !== 'string' || justification.trim() === '') {
    throw new Error('invalid justification: expected a non-empty sentence');
  }
  throw new Error('sandbox_permissions is not available in this composition (no sandboxing executor to escalate)');
}
