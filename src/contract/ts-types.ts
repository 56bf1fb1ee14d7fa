import type { ToolSchema } from './content.ts';
import type { JsonSchemaNode } from './json-schema.ts';
import { isSupportedJsonSchema } from './json-schema.ts';

/** What Code Mode declares of one tool: its schema and what its binding returns. */
export interface ToolSdkSchema extends ToolSchema {
  output: JsonSchemaNode;
}

/** Levels that are spelled out; what lies deeper is `JsonValue`. Indentation would grow with the square of the depth. */
const DEPTH_LIMIT = 100;

/** A type's text. `loose` text needs brackets before `[]` can follow. */
interface TypeText { readonly text: string; readonly loose: boolean }

const plain = (text: string): TypeText => ({ text, loose: false });
const pad = (indent: number): string => '  '.repeat(indent);
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/** A member name, quoted when it is no identifier. */
export const memberName = (name: string): string => (IDENTIFIER.test(name) ? name : JSON.stringify(name));

/** A description on one line; '' when there is nothing to say. */
export const oneLine = (description: unknown): string => (typeof description === 'string' ? description.replace(/\s+/g, ' ').trim() : '');

function comment(description: unknown, indent: number): string {
  const line = oneLine(description);
  return line === '' ? '' : `${pad(indent)}/** ${line.replaceAll('*/', '*\\/')} */\n`;
}

function union(texts: readonly string[]): TypeText {
  return { text: texts.join(' | '), loose: texts.length > 1 };
}

function typeOf(node: JsonSchemaNode, indent: number, depth: number): TypeText {
  if (depth > DEPTH_LIMIT) return plain('JsonValue');
  if (node.oneOf !== undefined) return union(node.oneOf.map((branch) => typeOf(branch, indent, depth + 1).text));
  switch (node.type) {
    case undefined: return plain('JsonValue');
    case 'null': return plain('null');
    case 'string':
    case 'number':
    case 'integer':
    case 'boolean':
      if (node.const !== undefined) return plain(JSON.stringify(node.const));
      if (node.enum !== undefined) return union(node.enum.map((member) => JSON.stringify(member)));
      return plain(node.type === 'integer' ? 'number' : node.type);
    case 'array': {
      if (node.items === undefined) return plain('JsonValue[]');
      const { text, loose } = typeOf(node.items, indent, depth + 1);
      return plain(loose ? `(${text})[]` : `${text}[]`);
    }
    case 'object': return objectType(node, indent, depth);
  }
}

function objectType(node: JsonSchemaNode, indent: number, depth: number): TypeText {
  const names = Object.keys(node.properties ?? {});
  const open = node.additionalProperties !== false;
  if (names.length === 0) return plain(`Record<string, ${open ? 'JsonValue' : 'never'}>`);
  const members = names.map((name) => {
    const member = node.properties![name]!;
    const mark = node.required?.includes(name) ? '' : '?';
    return `${comment(member.description, indent + 1)}${pad(indent + 1)}${memberName(name)}${mark}: ${typeOf(member, indent + 1, depth + 1).text};\n`;
  });
  const text = `{\n${members.join('')}${pad(indent)}}`;
  return open ? { text: `${text} & Record<string, JsonValue>`, loose: true } : plain(text);
}

/**
 * The TypeScript type of the values a schema accepts (C8.8), with members indented for a place at level `indent`.
 * `unknown` for anything outside the supported subset; never throws.
 */
export function jsonSchemaToTs(schema: unknown, indent = 0): string {
  return isSupportedJsonSchema(schema) ? typeOf(schema, indent, 0).text : 'unknown';
}

/** By code unit, so that the text does not depend on a locale (C8.7). */
export function sortedByName<T extends { readonly name: string }>(tools: readonly T[]): T[] {
  return [...tools].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

const INSTRUCTIONS = `## Programs for run_code

\`run_code\` runs one TypeScript program that calls your tools. Give it \`code\`, the body of an async function, and \`description\`, a few words that say what the program is for. Types are removed before it runs, so \`enum\`, namespaces and other syntax that produces code are not available.

- A tool is an async function: \`await tools.grep({ pattern: "TODO" })\`. A name that is no identifier goes in brackets: \`tools["my-tool"]({})\`. Pass one object of plain JSON (no \`undefined\`, \`NaN\`, dates or class instances); you get back the JSON value declared below, not text.
- A call that fails throws a \`ToolCallError\`. Catch it to go on without that result; \`toolName\` says which tool failed and \`message\` why.
- Use \`await\` one after the other where one call needs another to be done. Reads that do not depend on each other may be started together with \`Promise.all\`; calls that change something are never run side by side, and start in the order you made them.
- Only what you \`return\` or print with \`console.log\` comes back to you; everything else the program saw stays out of the conversation, so return the few facts you need. An image in a successful result is shown to you after the program has ended.

These tools exist:`;

const PREAMBLE = 'type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue }';
const EPILOGUE = `type ToolName = keyof ToolOutputMap

declare class ToolCallError extends Error {
  readonly name: "ToolCallError";
  readonly toolName: ToolName;
}

declare const tools: {
  [K in ToolName]: (args: ToolArgsMap[K]) => Promise<ToolOutputMap[K]>;
}`;

function typeMap(name: string, members: readonly string[]): string {
  return members.length === 0 ? `interface ${name} {}` : `interface ${name} {\n${members.join('')}}`;
}

/**
 * The prompt section that declares the given tools to a program (C8.6-C8.7). The caller leaves out `run_code`. The same
 * tools give the same bytes, in whatever order they come; never throws.
 */
export function renderToolsSdk(schemas: readonly ToolSdkSchema[]): string {
  const tools = sortedByName(schemas);
  const args = tools.map((tool) => `${comment(tool.description, 1)}  ${memberName(tool.name)}: ${jsonSchemaToTs(tool.parameters, 1)};\n`);
  const outputs = tools.map((tool) => `  ${memberName(tool.name)}: ${jsonSchemaToTs(tool.output, 1)};\n`);
  const code = [PREAMBLE, typeMap('ToolArgsMap', args), typeMap('ToolOutputMap', outputs), EPILOGUE].join('\n\n');
  return `${INSTRUCTIONS}\n\n\`\`\`ts\n${code}\n\`\`\``;
}
