/** A place in a plugin file, for messages and for jump-to. 1-based. */
export interface RowPlace { readonly file: string; readonly line: number }

/** An expression tagged `!!js`: evaluated lazily in the row's context (X13.5). */
export class JsExpression {
  readonly source: string;
  readonly place: RowPlace;

  constructor(source: string, place: RowPlace) {
    this.source = source;
    this.place = place;
  }
}

/** One row of a cordis.yml (X13.5). Plain YAML data, with {@link JsExpression} where the file has `!!js`. */
export interface PluginRow {
  /** Given, or the name; made unique within the file with `#2`, `#3` … */
  readonly id: string;
  /** A package name or a path (X13.7). */
  readonly name: string;
  readonly config?: unknown;
  readonly disabled?: boolean | JsExpression;
  /** Services the row waits for, besides the plugin's own; the object form intercepts their config. */
  readonly inject?: readonly string[] | Readonly<Record<string, unknown>>;
  /** Rows that live and die with this one. */
  readonly group?: readonly PluginRow[];
  /** Services the row gets (or provides) apart from everybody else: `true`, or a label shared by rows. */
  readonly isolate?: Readonly<Record<string, true | string>>;
  readonly place: RowPlace;
}

/** A row that the file has but that can't be used: shown in the plugin list like any failed plugin. */
export interface BadRow { readonly message: string; readonly place: RowPlace }

/** Replaces every `!!js` expression of `value` by what it evaluates to. Throws with the expression's place. */
export function evaluate(value: unknown, scope: Readonly<Record<string, unknown>>): unknown {
  if (value instanceof JsExpression) return run(value, scope);
  if (Array.isArray(value)) return value.map((item) => evaluate(item, scope));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, evaluate(item, scope)]));
  }
  return value;
}

function run(expression: JsExpression, scope: Readonly<Record<string, unknown>>): unknown {
  const names = Object.keys(scope);
  try {
    // the plugin file runs code by design: it is only read in trusted workspaces
    return (new Function(...names, `return (${expression.source}\n);`) as (...values: unknown[]) => unknown)(...Object.values(scope));
  } catch (error) {
    const { file, line } = expression.place;
    throw new Error(`${file}:${line}: !!js ${expression.source}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
