import type { JsonScalar } from './json.ts';
import type { JsonSchemaNode } from './json-schema.ts';
import { isSupportedJsonSchema } from './json-schema.ts';
import { oneLine, sortedByName } from './ts-types.ts';
import type { ToolSdkSchema } from './ts-types.ts';

/** Levels that are spelled out; what lies deeper is `Any`. */
const DEPTH_LIMIT = 100;

const IDENTIFIER = /^[\p{ID_Start}_][\p{ID_Continue}]*$/u;
/** Hard keywords of Python 3; soft ones (`match`, `type`, …) are fine as names. */
const KEYWORDS: ReadonlySet<string> = new Set(('False None True and as assert async await break class continue def del elif else except finally for '
  + 'from global if import in is lambda nonlocal not or pass raise return try while with yield').split(' '));

const isName = (text: string): boolean => IDENTIFIER.test(text) && !KEYWORDS.has(text);
/** Names with two leading underscores are rewritten inside a class body, so they cannot be spelled as members. */
const isMember = (text: string): boolean => isName(text) && !text.startsWith('__');

/** JSON's string escapes are Python's as well; a whole number is spelled out, because `1e300` would be a float. */
function literal(value: JsonScalar): string {
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (value === null) return 'None';
  if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value).toString();
  return JSON.stringify(value);
}

/** `web_search` → `WebSearch`; at least a letter first. */
function pascal(name: string): string {
  const words = name.match(/[\p{L}\p{N}]+/gu) ?? [];
  const joined = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return joined === '' || !/^\p{ID_Start}/u.test(joined) ? `Tool${joined}` : joined;
}

/** Names an object type; undefined keeps to `dict[str, Any]`. */
type Namer = ((node: JsonSchemaNode, path: string, depth: number) => string | undefined) | undefined;

function typeOf(node: JsonSchemaNode, path: string, depth: number, imports: Set<string>, nameObject: Namer): string {
  const any = (text = 'Any'): string => {
    imports.add('Any');
    return text;
  };
  if (depth > DEPTH_LIMIT) return any();
  if (node.oneOf !== undefined) {
    return node.oneOf.map((branch, i) => typeOf(branch, `${path}${i + 1}`, depth + 1, imports, nameObject)).join(' | ');
  }
  switch (node.type) {
    case undefined: return any();
    case 'null': return 'None';
    case 'array': return `list[${node.items === undefined ? any() : typeOf(node.items, path, depth + 1, imports, nameObject)}]`;
    case 'object': return nameObject?.(node, path, depth) ?? any('dict[str, Any]');
    case 'string':
    case 'number':
    case 'integer':
    case 'boolean': {
      const members = node.const !== undefined ? [node.const] : node.enum;
      if (members === undefined) return { string: 'str', number: 'float', integer: 'int', boolean: 'bool' }[node.type];
      imports.add('Literal');
      return `Literal[${members.map(literal).join(', ')}]`;
    }
  }
}

/**
 * The Python type of the values a schema accepts; an object is `dict[str, Any]`, because naming its members takes a
 * class, which only `renderToolsSdkPy` can declare. `Any` for anything outside the supported subset; never throws.
 */
export function jsonSchemaToPy(schema: unknown): string {
  return isSupportedJsonSchema(schema) ? typeOf(schema, '', 0, new Set(), undefined) : 'Any';
}

/** Collects the classes of one rendering. */
class Classes {
  readonly texts: string[] = [];
  readonly imports = new Set<string>(['Protocol']);
  private readonly taken = new Set<string>();

  /** The type of one tool's arguments or output; `name` is for the class when it needs one. */
  type(schema: unknown, name: string): string {
    if (!isSupportedJsonSchema(schema)) {
      this.imports.add('Any');
      return 'Any';
    }
    return this.render(schema, name, 0);
  }

  private render(node: JsonSchemaNode, path: string, depth: number): string {
    return typeOf(node, path, depth, this.imports, (object, name, level) => this.declare(object, name, level));
  }

  private declare(node: JsonSchemaNode, path: string, depth: number): string | undefined {
    const names = Object.keys(node.properties ?? {});
    const open = node.additionalProperties !== false;
    if ((names.length === 0 && open) || !names.every(isMember)) return undefined;
    const name = this.free(path);
    this.imports.add('TypedDict');
    const lines = names.flatMap((key) => {
      const member = node.properties![key]!;
      const type = this.render(member, `${name}${pascal(key)}`, depth + 1);
      const required = node.required?.includes(key) ?? false;
      if (!required) this.imports.add('NotRequired');
      const said = oneLine(member.description);
      return [...(said === '' ? [] : [`    # ${said}`]), `    ${key}: ${required ? type : `NotRequired[${type}]`}`];
    });
    if (lines.length === 0) lines.push('    pass');
    if (open) lines.push('    # Additional keys beyond those declared are allowed.');
    this.texts.push(`class ${name}(TypedDict):\n${lines.join('\n')}`);
    return name;
  }

  private free(wanted: string): string {
    let name = wanted;
    for (let n = 2; this.taken.has(name); n++) name = `${wanted}${n}`;
    this.taken.add(name);
    return name;
  }
}

/** Escapes a line for a docstring. */
function docstring(line: string): string {
  return line.replaceAll('\\', '\\\\').replaceAll('"""', '\\"\\"\\"').replace(/"$/, '\\"');
}

function method(tool: ToolSdkSchema, args: string, output: string): string {
  const said = oneLine(tool.description);
  if (!isName(tool.name) || tool.name.startsWith('_')) {
    return [`    # tools[${JSON.stringify(tool.name)}](args: ${args}) -> ${output}`, ...(said === '' ? [] : [`    #   ${said}`])].join('\n');
  }
  const head = `    async def ${tool.name}(self, args: ${args}) -> ${output}:`;
  return said === '' ? `${head} ...` : `${head}\n        """${docstring(said)}"""`;
}

const INSTRUCTIONS = `## Programs for run_code

\`run_code\` runs one Python program that calls your tools. Give it \`code\`, the body of an async function (\`await\` and \`return\` work at its top level), and \`description\`, a few words that say what the program is for. When it runs, \`tools\` and \`ToolCallError\` exist; the other classes below only describe shapes. Build arguments as plain dicts and lists: \`{"pattern": "TODO"}\`, not \`GrepArgs(pattern="TODO")\`, which is a \`NameError\`.

- A tool is an awaitable method that takes one dict: \`await tools.grep({"pattern": "TODO"})\`. A name that is a keyword, starts with an underscore or is no identifier goes in brackets: \`await tools["my-tool"]({})\`. Pass plain JSON; you get back the JSON value declared below, not text.
- A call that fails raises \`ToolCallError\`. Catch it to go on without that result; \`toolName\` says which tool failed and the message why.
- Await one call after the other where one needs another to be done. Reads that do not depend on each other may be started together with \`asyncio.gather\`; calls that change something are never run side by side, and start in the order you made them.
- Only what you \`return\` (plain JSON) or \`print\` comes back to you; everything else the program saw stays out of the conversation, so return the few facts you need. An image in a successful result is shown to you after the program has ended.

These tools exist:`;

/**
 * `renderToolsSdk` for a Python runtime: a `TypedDict` for every object, declared before its first use, and a `Tools`
 * protocol. The same tools give the same bytes, in whatever order they come; never throws.
 */
export function renderToolsSdkPy(schemas: readonly ToolSdkSchema[]): string {
  const classes = new Classes();
  const methods = sortedByName(schemas).map((tool) => {
    const name = pascal(tool.name);
    const args = classes.type(tool.parameters, `${name}Args`);
    return method(tool, args, classes.type(tool.output, `${name}Output`));
  });
  // A protocol of nothing but comments would have no body.
  if (!methods.some((text) => text.startsWith('    async def '))) methods.unshift('    pass');
  const code = [
    `from typing import ${[...classes.imports].sort().join(', ')}`,
    'class ToolCallError(Exception):\n    toolName: str',
    ...classes.texts,
    `class Tools(Protocol):\n${methods.join('\n')}`,
    'tools: Tools',
  ].join('\n\n');
  return `${INSTRUCTIONS}\n\n\`\`\`python\n${code}\n\`\`\``;
}
