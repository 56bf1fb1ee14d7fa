import type { PromptAssembly } from './assembly.ts';

/** Variable names: what may stand between the braces (Y14.3). */
export const VARIABLE_NAME = /^[a-z][a-z0-9_]*$/;

/** First line of a runtime-context snapshot (Y14.5). */
export const CONTEXT_SNAPSHOT_INTRO = 'Current runtime context. This snapshot supersedes earlier runtime-context snapshots.';
/** The whole snapshot once nothing contributes any more (Y14.5). */
export const CONTEXT_SNAPSHOT_NONE = 'Current runtime context: none. Earlier runtime-context snapshots no longer apply.';

/** One context contribution after interpolation. */
export interface ContextSnapshotSection { name: string; text: string }

type Variables = PromptAssembly['variables'];

function lookUp(name: string, variables: Variables, where: string): string {
  if (!VARIABLE_NAME.test(name)) {
    throw new Error(`malformed prompt variable reference "{{${name}}}" in ${where}: names match ${VARIABLE_NAME.source}`);
  }
  if (!Object.hasOwn(variables, name)) {
    const known = Object.keys(variables).join(', ') || '(none)';
    throw new Error(`unknown prompt variable "{{${name}}}" in ${where}; registered variables: ${known}`);
  }
  const value = variables[name];
  if (value === undefined) throw new Error(`prompt variable "{{${name}}}" has no value for this assembly (${where})`);
  return value;
}

/** Replaces each `{{name}}` once; the values are not scanned again (Y14.3). */
function interpolate(text: string, variables: Variables, where: string): string {
  let out = '';
  let from = 0;
  for (;;) {
    const open = text.indexOf('{{', from);
    if (open < 0) return out + text.slice(from);
    const close = text.indexOf('}}', open + 2);
    if (close < 0) return out + text.slice(from);
    const name = text.slice(open + 2, close);
    if (name.includes('{') || name.includes('}')) {
      throw new Error(`malformed prompt variable reference at "${text.slice(open, open + 16)}" in ${where}: write {{name}}`);
    }
    out += text.slice(from, open) + lookUp(name, variables, where);
    from = close + 2;
  }
}

/** The system prompt: sections interpolated, empty ones dropped, joined by blank lines (Y14.2). */
export function renderPrompt(assembly: PromptAssembly): string {
  return assembly.sections
    .map(({ name, text }) => interpolate(text, assembly.variables, `section "${name}"`))
    .filter((text) => text !== '')
    .join('\n\n');
}

/** The context contributions that render to some text, in order. */
export function renderContextSections(assembly: PromptAssembly): ContextSnapshotSection[] {
  return assembly.contexts
    .map(({ name, text }) => ({ name, text: interpolate(text, assembly.variables, `context "${name}"`) }))
    .filter(({ text }) => text !== '');
}

/** The snapshot text for rendered sections, `''` when there are none (Y14.5). */
export function joinContextSections(sections: readonly ContextSnapshotSection[]): string {
  const body = sections.map(({ text }) => text).join('\n\n');
  return body === '' ? '' : `${CONTEXT_SNAPSHOT_INTRO}\n\n${body}`;
}

/** `joinContextSections(renderContextSections(assembly))`. */
export function renderContextSnapshot(assembly: PromptAssembly): string {
  return joinContextSections(renderContextSections(assembly));
}
