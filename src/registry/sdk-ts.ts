import type { ToolSchema } from '../contract/content.ts';
import type { JsonSchemaNode } from '../contract/json-schema.ts';
import { assertSupportedJsonSchema } from '../contract/json-schema.ts';

/** What the SDK text needs of a tool: its schema, and that of its value. */
export interface ToolSdkSchema extends ToolSchema { output: JsonSchemaNode }

const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

/** A one-line comment: white space collapsed, the end mark made harmless (C8.7). */
function comment(text: unknown, pad: string): string {
  if (typeof text !== 'string') return '';
  const line = text.replace(/\s+/g, ' ').trim().replaceAll('*/', '*\\/');
  return line === '' ? '' : `${pad}/** ${line} */\n`;
}

function key(name: string): string {
  return IDENTIFIER.test(name) ? name : JSON.stringify(name);
}

function literal(value: unknown): string {
  return JSON.stringify(value);
}

function objectType(node: JsonSchemaNode, indent: number): string {
  const names = Object.keys(node.properties ?? {});
  const open = node.additionalProperties !== false;
  if (names.length === 0) return open ? 'Record<string, JsonValue>' : 'Record<string, never>';
  const pad = '  '.repeat(indent + 1);
  const required = new Set(node.required);
  const members = names.map((name) => {
    const member = node.properties![name]!;
    return `${comment(member.description, pad)}${pad}${key(name)}${required.has(name) ? '' : '?'}: ${typeText(member, indent + 1)};\n`;
  });
  return `{\n${members.join('')}${'  '.repeat(indent)}}${open ? ' & Record<string, JsonValue>' : ''}`;
}

function typeText(node: JsonSchemaNode, indent: number): string {
  if (node.oneOf) return node.oneOf.map((branch) => typeText(branch, indent)).join(' | ');
  if (node.const !== undefined) return literal(node.const);
  if (node.enum) return node.enum.map(literal).join(' | ');
  switch (node.type) {
    case 'string': case 'number': case 'boolean': case 'null': return node.type;
    case 'integer': return 'number';
    case 'object': return objectType(node, indent);
    case 'array': {
      if (!node.items) return 'JsonValue[]';
      const item = typeText(node.items, indent);
      return isCompound(node.items) ? `(${item})[]` : `${item}[]`;
    }
    default: return 'JsonValue';
  }
}

/** Whether an element type needs brackets before `[]`: a union or an intersection. */
function isCompound(node: JsonSchemaNode): boolean {
  if (node.oneOf) return true;
  if (node.const !== undefined) return false;
  if (node.enum) return node.enum.length > 1;
  return node.type === 'object' && node.additionalProperties !== false && Object.keys(node.properties ?? {}).length > 0;
}

/** TypeScript text of a schema of the raw subset; `unknown` for anything else, never an error (C8.8). */
export function jsonSchemaToTs(schema: unknown, indent = 0): string {
  try {
    assertSupportedJsonSchema(schema);
    return typeText(schema, indent);
  } catch {
    return 'unknown';
  }
}

const INTRO = `## Programs

\`run_code\` takes two arguments: \`code\`, the body of an async TypeScript function, and \`description\`, a few words on what it does. Types are stripped before it runs: write no \`enum\`, \`namespace\` or other syntax that makes code.

- Every tool below is a function: \`await tools.name(args)\`, or \`tools["a-name"](args)\` when the name is no identifier. It resolves to the tool's value. Arguments are plain JSON.
- A call that fails rejects with \`ToolCallError\`: \`toolName\` says which tool, \`message\` says why. Catch it to go on.
- Calls that only read may overlap with \`Promise.all\`; calls that change something run one at a time, in the order made.
- Only what you \`return\` or print with \`console.log\` comes back, so pick out what matters. Images in results of tools are attached when the program has ended.

Types:`;

/** The prompt section that declares every tool, in code-unit order of names: equal sets give equal text (C8.6, C8.7). */
export function renderToolsSdk(schemas: ToolSdkSchema[]): string {
  const tools = [...schemas].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const args = tools.map((tool) => `${comment(tool.description, '  ')}  ${key(tool.name)}: ${jsonSchemaToTs(tool.parameters, 1)};\n`);
  const values = tools.map((tool) => `  ${key(tool.name)}: ${jsonSchemaToTs(tool.output, 1)};\n`);
  return `${INTRO}

\`\`\`ts
type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue }

interface ToolArgsMap {
${args.join('')}}

interface ToolOutputMap {
${values.join('')}}

type ToolName = keyof ToolOutputMap

declare class ToolCallError extends Error {
  readonly name: "ToolCallError";
  readonly toolName: ToolName;
}

declare const tools: {
  [K in ToolName]: (args: ToolArgsMap[K]) => Promise<ToolOutputMap[K]>;
}
\`\`\``;
}
