import { isMap, isScalar, isSeq, LineCounter, parseDocument, type ParsedNode, type ScalarTag } from 'yaml';
import { JsExpression, type BadRow, type PluginRow, type RowPlace } from './row.ts';

export interface PluginFile { readonly rows: readonly PluginRow[]; readonly bad: readonly BadRow[] }

/** One entry of a patch file (X13.5): rows to add (after `id`, or at the end), or fields of a row to replace. */
export type PluginPatch =
  | { readonly kind: 'insert'; readonly rows: readonly PluginRow[]; readonly after?: string; readonly place: RowPlace }
  | { readonly kind: 'set'; readonly id: string; readonly name?: string; readonly fields: Partial<Omit<PluginRow, 'id' | 'name' | 'place'>>; readonly place: RowPlace };

export interface PatchFile { readonly patches: readonly PluginPatch[]; readonly bad: readonly BadRow[] }

class Reader {
  readonly bad: BadRow[] = [];
  readonly #lines = new LineCounter();
  readonly #file: string;
  readonly #ids = new Set<string>();

  constructor(file: string) {
    this.#file = file;
  }

  /** The items of the file's top array; errors go to {@link bad}. */
  items(text: string): ParsedNode[] {
    const js: ScalarTag = {
      tag: 'tag:yaml.org,2002:js',
      resolve: (source) => new JsExpression(source, { file: this.#file, line: 1 }),
    };
    const document = parseDocument(text, { customTags: [js], lineCounter: this.#lines });
    for (const error of document.errors) {
      this.bad.push({ message: error.message.split('\n', 1)[0] ?? error.code, place: { file: this.#file, line: error.linePos?.[0].line ?? 1 } });
    }
    if (this.bad.length > 0 || document.contents === null) return [];
    if (!isSeq(document.contents)) {
      this.#complain('expected a list of plugins, each a line that starts with "- name:"', document.contents);
      return [];
    }
    return document.contents.items as ParsedNode[];
  }

  place(node: unknown): RowPlace {
    const at = (node as { range?: readonly [number, number, number] } | null)?.range?.[0];
    return { file: this.#file, line: at === undefined ? 1 : this.#lines.linePos(at).line };
  }

  #complain(message: string, node: unknown): undefined {
    this.bad.push({ message, place: this.place(node) });
    return undefined;
  }

  #data(node: unknown): unknown {
    if (isMap(node)) return Object.fromEntries(node.items.map((pair) => [String((pair.key as { value?: unknown }).value), this.#data(pair.value)]));
    if (isSeq(node)) return node.items.map((item) => this.#data(item));
    if (!isScalar(node)) return null;
    return node.value instanceof JsExpression ? new JsExpression(node.value.source, this.place(node)) : node.value;
  }

  fields(node: unknown): Record<string, unknown> | undefined {
    if (!isMap(node)) return this.#complain('expected a plugin: a mapping with "name"', node);
    return Object.fromEntries(node.items.map((pair) => [String((pair.key as { value?: unknown }).value), pair.key === null ? null : this.#data(pair.value)]));
  }

  row(node: unknown): PluginRow | undefined {
    const fields = this.fields(node);
    if (fields === undefined) return undefined;
    const groupNode = isMap(node) ? node.get('group', true) : undefined;
    const configNode = isMap(node) ? node.get('config', true) : undefined;
    const groupRows = isSeq(groupNode) ? groupNode : fields['group'] === true && isSeq(configNode) ? configNode : undefined;
    const name = fields['name'] ?? (groupRows === undefined ? undefined : 'group');
    if (typeof name !== 'string' || name === '') return this.#complain('"name" must be a package name or a path', node);
    for (const key of Object.keys(fields)) if (!ROW_KEYS.has(key)) this.#complain(`"${key}" is not a field of a plugin row (${[...ROW_KEYS].join(', ')})`, node);
    const checked = this.#checked(fields, node);
    if (checked === undefined) return undefined;
    const group = groupRows?.items.map((item) => this.row(item)).filter((row) => row !== undefined);
    const { config, ...rest } = checked;
    return { id: this.#id(fields['id'], name), name, ...rest, ...(group === undefined ? { config } : { group }), place: this.place(node) };
  }

  /** The optional fields of a row or of a patch, or undefined after a complaint. */
  #checked(fields: Record<string, unknown>, node: unknown): Pick<PluginRow, 'config' | 'disabled' | 'inject' | 'isolate'> | undefined {
    const { disabled, inject, isolate } = fields;
    if (disabled !== undefined && typeof disabled !== 'boolean' && disabled !== null && !(disabled instanceof JsExpression)) {
      return this.#complain('"disabled" must be true, false or a !!js expression', node);
    }
    const services = inject ?? undefined;
    if (services !== undefined && !(Array.isArray(services) ? services.every((item) => typeof item === 'string') : typeof services === 'object')) {
      return this.#complain('"inject" must be a list of service names, or a mapping of service name to config', node);
    }
    if (isolate !== undefined && isolate !== null && (typeof isolate !== 'object' || Array.isArray(isolate))) {
      return this.#complain('"isolate" must be a mapping of service name to true or a label', node);
    }
    return {
      ...('config' in fields ? { config: fields['config'] } : {}),
      ...(disabled === undefined || disabled === null ? {} : { disabled: disabled as boolean | JsExpression }),
      ...(services === undefined ? {} : { inject: services as NonNullable<PluginRow['inject']> }),
      ...(isolate === undefined || isolate === null ? {} : { isolate: isolate as NonNullable<PluginRow['isolate']> }),
    };
  }

  #id(given: unknown, name: string): string {
    const wanted = typeof given === 'string' && given !== '' ? given : name;
    let id = wanted;
    for (let n = 2; this.#ids.has(id); n++) id = `${wanted}#${n}`;
    this.#ids.add(id);
    return id;
  }

  patch(node: unknown): PluginPatch | undefined {
    const fields = this.fields(node);
    if (fields === undefined || !isMap(node)) return undefined;
    const inserted = node.get('insert', true);
    const id = fields['id'];
    if (inserted !== undefined) {
      if (!isSeq(inserted)) return this.#complain('"insert" must be a list of plugin rows', node);
      const rows = inserted.items.map((item) => this.row(item)).filter((row) => row !== undefined);
      return { kind: 'insert', rows, place: this.place(node), ...(typeof id === 'string' ? { after: id } : {}) };
    }
    if (typeof id !== 'string') return this.#complain('a patch needs "insert" or the "id" of the row it changes', node);
    const checked = this.#checked(fields, node);
    if (checked === undefined) return undefined;
    const name = fields['name'];
    return { kind: 'set', id, fields: checked, place: this.place(node), ...(typeof name === 'string' ? { name } : {}) };
  }
}

const ROW_KEYS = new Set(['id', 'name', 'config', 'disabled', 'inject', 'group', 'isolate']);

/** Reads a cordis.yml (X13.5). What can't be used is reported with its line and leaves the other rows alone. */
export function parsePluginFile(file: string, text: string): PluginFile {
  const reader = new Reader(file);
  const rows = reader.items(text).map((node) => reader.row(node)).filter((row) => row !== undefined);
  return { rows, bad: reader.bad };
}

/** Reads a patch file (X13.5). */
export function parsePatchFile(file: string, text: string): PatchFile {
  const reader = new Reader(file);
  const patches = reader.items(text).map((node) => reader.patch(node)).filter((patch) => patch !== undefined);
  return { patches, bad: reader.bad };
}

/**
 * Applies one patch file, also to rows inside groups: fields are replaced, not merged; an unknown id and a name that
 * differs are told and skipped (X13.5).
 */
export function applyPatches(rows: readonly PluginRow[], patches: readonly PluginPatch[], warn: (problem: BadRow) => void): PluginRow[] {
  let out = [...rows];
  for (const patch of patches) {
    if (patch.kind === 'insert') {
      const { after } = patch;
      const added = after === undefined ? undefined : edit(out, after, (row) => [row, ...patch.rows]);
      if (after !== undefined && added === undefined) warn({ message: `no plugin has the id "${after}": its rows are at the end`, place: patch.place });
      out = added ?? [...out, ...patch.rows];
      continue;
    }
    const changed = edit(out, patch.id, (row) => {
      if (patch.name === undefined || patch.name === row.name) return [{ ...row, ...patch.fields }];
      warn({ message: `"${patch.id}" is ${row.name}, not ${patch.name}: skipped`, place: patch.place });
      return [row];
    });
    if (changed === undefined) warn({ message: `no plugin has the id "${patch.id}"`, place: patch.place });
    out = changed ?? out;
  }
  return out;
}

/** `rows` with the row of that id replaced by what `change` gives; undefined when there is none. */
function edit(rows: readonly PluginRow[], id: string, change: (row: PluginRow) => PluginRow[]): PluginRow[] | undefined {
  for (const [index, row] of rows.entries()) {
    const group = row.group && edit(row.group, id, change);
    const instead = row.id === id ? change(row) : group && [{ ...row, group }];
    if (instead) return [...rows.slice(0, index), ...instead, ...rows.slice(index + 1)];
  }
  return undefined;
}
