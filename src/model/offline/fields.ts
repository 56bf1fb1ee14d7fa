import type { ToolSchema } from '../../contract/content.ts';

export type FieldType = 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object' | 'any';

/** One parameter of a tool, with what its name and description say about the words that belong in it. */
export interface Field {
  readonly name: string;
  readonly type: FieldType;
  readonly itemType: FieldType;
  readonly choices: readonly (string | number | boolean | null)[];
  readonly description: string;
  readonly required: boolean;
  /** A line for people that goes with the real input (a command's description, a title): the user's own words do. */
  readonly label: boolean;
  readonly path: boolean;
  readonly url: boolean;
  /** Takes a whole sentence or command, spaces and all. */
  readonly free: boolean;
}

const LABEL = /^(description|title|summary|reason|justification|label|explanation)$/i;
const PATH = /path|file|folder|^dir|directory|cwd|workdir/i;
const PATH_TEXT = /^(an? |the )?(absolute |relative )?(path|file|folder|directory)\b/i;
const URL_NAME = /url|uri|link|href/i;
const FREE = /^(command|cmd|code|script|text|contents?|prompt|message|body|objective|plan|query|question|input|expression)$/i;

/** A tool's parameters: required ones first, each group in the schema's order. */
export function fieldsOf(tool: ToolSchema): Field[] {
  const { properties, required } = tool.parameters as { properties?: unknown; required?: unknown };
  if (!isRecord(properties)) return [];
  const needed = new Set(Array.isArray(required) ? required as unknown[] : []);
  const others = needed.size;
  const fields = Object.entries(properties).map(([name, schema]): Field => {
    const node = isRecord(schema) ? schema : {};
    const type = typeOf(node);
    const description = typeof node.description === 'string' ? node.description : '';
    const string = type === 'string';
    return {
      name,
      type,
      itemType: typeOf(isRecord(node.items) ? node.items : {}),
      choices: choicesOf(node),
      description,
      required: needed.has(name),
      label: string && LABEL.test(name) && others > 1,
      path: string && (PATH.test(name) || PATH_TEXT.test(description)),
      url: string && URL_NAME.test(name),
      free: string && FREE.test(name),
    };
  });
  return [...fields.filter((field) => field.required), ...fields.filter((field) => !field.required)];
}

/** The value `text` stands for in a field, or undefined when it can't be one. */
export function coerce(field: Pick<Field, 'type' | 'choices' | 'itemType'>, text: string): unknown {
  if (field.choices.length > 0) return field.choices.find((choice) => String(choice).toLowerCase() === text.toLowerCase());
  switch (field.type) {
    case 'string':
      return text;
    case 'number':
    case 'integer': {
      const value = text.trim() === '' ? Number.NaN : Number(text);
      return Number.isFinite(value) && (field.type === 'number' || Number.isInteger(value)) ? value : undefined;
    }
    case 'boolean':
      if (/^(true|yes|on)$/i.test(text)) return true;
      return /^(false|no|off)$/i.test(text) ? false : undefined;
    case 'array': {
      const parsed = json(text);
      if (Array.isArray(parsed)) return parsed;
      if (field.itemType === 'object' || field.itemType === 'array') return undefined;
      const items = splitList(text).map((item) => coerce({ type: field.itemType, choices: [], itemType: 'any' }, item));
      return items.includes(undefined) ? undefined : items;
    }
    case 'object': {
      const parsed = json(text);
      return isRecord(parsed) ? parsed : undefined;
    }
    case 'any':
      return json(text) ?? text;
  }
}

/** `a, b and c` as three items. */
export function splitList(text: string): string[] {
  return text.split(/\s*,\s*(?:and\s+)?|\s+and\s+/).map((item) => item.trim()).filter((item) => item !== '');
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function json(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function typeOf(node: Record<string, unknown>): FieldType {
  switch (node.type) {
    case 'string': case 'number': case 'integer': case 'boolean': case 'array': case 'object':
      return node.type;
    default: {
      const first = choicesOf(node)[0];
      return typeof first === 'string' ? 'string' : 'any';
    }
  }
}

function choicesOf(node: Record<string, unknown>): Field['choices'] {
  const list = Array.isArray(node.enum) ? node.enum : 'const' in node ? [node.const] : alternatives(node);
  return list.filter((value): value is string | number | boolean | null => value === null || ['string', 'number', 'boolean'].includes(typeof value));
}

/** `oneOf` of constants is an enum by another name. */
function alternatives(node: Record<string, unknown>): unknown[] {
  if (!Array.isArray(node.oneOf)) return [];
  const constants = (node.oneOf as unknown[]).map((entry) => (isRecord(entry) && 'const' in entry ? entry.const : undefined));
  return constants.includes(undefined) ? [] : constants;
}
