import { assertSupportedJsonSchema } from '../contract/json-schema.ts';
import type { JsonSchemaNode } from '../contract/json-schema.ts';
import type { ToolSdkSchema } from './sdk-ts.ts';

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const KEYWORDS = new Set((
  'False None True and as assert async await break class continue def del elif else except finally for from global if import '
  + 'in is lambda nonlocal not or pass raise return try while with yield'
).split(' '));
const ANY_OBJECT = 'dict[str, Any]';

function isName(name: string): boolean {
  return NAME.test(name) && !KEYWORDS.has(name);
}

function literal(value: unknown): string {
  if (value === null) return 'None';
  return typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value);
}

function oneLine(text: unknown): string {
  return typeof text === 'string' ? text.replace(/\s+/g, ' ').trim() : '';
}

/** `dashed-name` → `DashedName`; what is left of a name without any letter starts with `Tool`. */
function className(name: string): string {
  const pascal = name.split(/[^A-Za-z0-9]+/).filter(Boolean).map((word) => word[0]!.toUpperCase() + word.slice(1)).join('');
  return /^[A-Za-z]/.test(pascal) ? pascal : `Tool${pascal}`;
}

/** Collects the classes a program's types need, each before the first one that mentions it. */
class Declarations {
  readonly classes: string[] = [];
  readonly #names = new Map<string, number>();

  /** Text of a node's type; objects become classes named after `name`, or plain dicts when `name` is undefined. */
  type(node: JsonSchemaNode, name: string | undefined): string {
    if (node.oneOf) return node.oneOf.map((branch) => this.type(branch, name)).join(' | ');
    if (node.const !== undefined) return node.const === null ? 'None' : `Literal[${literal(node.const)}]`;
    if (node.enum) return `Literal[${node.enum.map(literal).join(', ')}]`;
    switch (node.type) {
      case 'string': return 'str';
      case 'number': return 'float';
      case 'integer': return 'int';
      case 'boolean': return 'bool';
      case 'null': return 'None';
      case 'array': return `list[${node.items ? this.type(node.items, name) : 'Any'}]`;
      case 'object': return this.#object(node, name);
      default: return 'Any';
    }
  }

  #object(node: JsonSchemaNode, name: string | undefined): string {
    const open = node.additionalProperties !== false;
    const keys = Object.keys(node.properties ?? {});
    // A class body can only spell keys that are names; anything else is told as a plain dict.
    if (name === undefined || !keys.every(isName) || (open && keys.length === 0)) return ANY_OBJECT;
    const required = new Set(node.required);
    const members = keys.flatMap((key) => {
      const member = node.properties![key]!;
      const type = this.type(member, name + className(key));
      const about = oneLine(member.description);
      return [...(about === '' ? [] : [`    # ${about}`]), `    ${key}: ${required.has(key) ? type : `NotRequired[${type}]`}`];
    });
    if (open) members.push('    # Other keys are allowed, too.');
    const unique = this.#unique(name);
    this.classes.push(`class ${unique}(TypedDict):\n${members.length > 0 ? members.join('\n') : '    pass'}`);
    return unique;
  }

  #unique(name: string): string {
    const uses = (this.#names.get(name) ?? 0) + 1;
    this.#names.set(name, uses);
    return uses === 1 ? name : this.#unique(`${name}${uses}`);
  }
}

function typeOf(schema: unknown, declarations: Declarations, name: string | undefined): string {
  const classesBefore = declarations.classes.length;
  try {
    assertSupportedJsonSchema(schema);
    return declarations.type(schema, name);
  } catch {
    declarations.classes.length = classesBefore;
    return 'Any';
  }
}

/** Python text of a schema of the raw subset; `Any` for anything else, never an error. Objects are `dict[str, Any]`. */
export function jsonSchemaToPy(schema: unknown): string {
  return typeOf(schema, new Declarations(), undefined);
}

const INTRO = `## Programs

\`run_code\` takes two arguments: \`code\`, the body of an async Python function (\`await\` and \`return\` work at its top level), and \`description\`, a few words on what it does. Of the names declared below only \`tools\` and \`ToolCallError\` exist while it runs; the classes merely describe types, so write arguments as plain dicts and lists.

- Every tool below is a function: \`await tools.name({"field": 1})\`, or \`await tools["a-name"](…)\` when the name is no Python name or starts with an underscore. It gives the tool's value. Arguments are plain JSON.
- A call that fails raises \`ToolCallError\`: \`toolName\` says which tool, its text says why. Catch it to go on.
- Calls that only read may overlap with \`asyncio.gather\`; calls that change something run one at a time, in the order made.
- Only what you \`return\` (plain JSON) or \`print\` comes back, so pick out what matters. Images in results of tools are attached when the program has ended.

Types:`;

/** The prompt section that declares every tool for Python programs; equal sets give equal text. */
export function renderToolsSdkPy(schemas: ToolSdkSchema[]): string {
  const declarations = new Declarations();
  const tools = [...schemas].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const methods = tools.map((tool) => {
    const base = className(tool.name);
    const args = typeOf(tool.parameters, declarations, `${base}Args`);
    const value = typeOf(tool.output, declarations, `${base}Output`);
    const about = oneLine(tool.description);
    if (isName(tool.name) && !tool.name.startsWith('_')) {
      const doc = about.replaceAll('\\', '\\\\').replaceAll('"', '\\"');
      return `    async def ${tool.name}(self, args: ${args}) -> ${value}:\n        ${about === '' ? '...' : `"""${doc}"""`}`;
    }
    return `    # tools[${JSON.stringify(tool.name)}](args: ${args}) -> ${value}${about === '' ? '' : `\n    #   ${about}`}`;
  });
  const spoken = methods.some((method) => method.startsWith('    async')) ? methods : [...methods, '    pass'];
  const body = [
    'class ToolCallError(Exception):\n    toolName: str',
    ...declarations.classes,
    `class Tools(Protocol):\n${spoken.join('\n')}`,
    'tools: Tools',
  ].join('\n\n');
  const imports = ['Any', 'Literal', 'NotRequired', 'Protocol', 'TypedDict'].filter((name) => new RegExp(`\\b${name}\\b`).test(body));
  return `${INTRO}\n\n\`\`\`python\nfrom typing import ${imports.join(', ')}\n\n${body}\n\`\`\``;
}
