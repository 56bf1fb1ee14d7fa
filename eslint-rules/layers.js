import { isBuiltin } from 'node:module';
import path from 'node:path';
import { NO_NODE_ROOMS, ROWS, SIDE_IMPORTERS, SIDE_ROOMS, VSCODE_ROOMS } from './table.js';

const ROW_OF = new Map(ROWS.flatMap((row, i) => row.map((room) => [room, i])));

/**
 * The room a file of the repo belongs to: `agent`, `protocol.ts`, `webview`, or `undefined` for files outside the
 * house (tests, scripts).
 * @param {string} root absolute folder of the repo
 * @param {string} file absolute path
 * @returns {string | undefined}
 */
export function roomOf(root, file) {
  const [top, second] = path.relative(root, file).split(path.sep);
  if (top === 'webview') return 'webview';
  return top === 'src' ? second : undefined;
}

/**
 * Why an import is not allowed, or `undefined` when it is.
 * @param {string} root absolute folder of the repo
 * @param {string} file absolute path of the importing file
 * @param {string} specifier as written in the import
 * @returns {string | undefined}
 */
export function complaint(root, file, specifier) {
  const from = roomOf(root, file);
  if (from === undefined) return undefined;
  if (!ROW_OF.has(from) && !(from in SIDE_ROOMS)) {
    return `src/${from} has no place in the layers: give it a row in eslint-rules/table.js.`;
  }
  if (specifier === 'vscode' || specifier.startsWith('vscode/')) {
    return VSCODE_ROOMS.includes(from) ? undefined : `Only src/host may import 'vscode': ${from} reaches it through a seam.`;
  }
  if (!specifier.startsWith('.')) {
    if (NO_NODE_ROOMS.includes(from) && isBuiltin(specifier)) return `${from} runs without Node: '${specifier}' is not there.`;
    return undefined;
  }
  const target = path.resolve(path.dirname(file), specifier);
  const to = roomOf(root, target);
  if (to === from) return undefined;
  if (to === undefined) {
    if (path.relative(root, target) === 'package.json') return undefined;
    return `${from} may not import '${specifier}': product code stays inside src/ and webview/.`;
  }
  if (from in SIDE_ROOMS) {
    return SIDE_ROOMS[from].includes(to) ? undefined : `${from} may only import ${SIDE_ROOMS[from].join(' and ')}, not ${to}.`;
  }
  if (to in SIDE_ROOMS) {
    return SIDE_IMPORTERS[to]?.includes(from) ? undefined : `${from} may not import ${to}.`;
  }
  const target_row = ROW_OF.get(to);
  if (target_row === undefined) return `src/${to} has no place in the layers: give it a row in eslint-rules/table.js.`;
  if (target_row > ROW_OF.get(from)) return `Imports run downward: ${from} may not import ${to}, which lies above it.`;
  return undefined;
}

/** @type {import('eslint').Rule.RuleModule} */
export const layers = {
  meta: {
    type: 'problem',
    docs: { description: 'imports follow the layers of the house' },
    schema: [{ type: 'object', properties: { root: { type: 'string' } }, additionalProperties: false }],
    messages: { arrow: '{{why}}' },
  },
  create(context) {
    const root = context.options[0]?.root ?? context.cwd;
    const check = (node, source) => {
      if (source?.type !== 'Literal' || typeof source.value !== 'string') return;
      const why = complaint(root, context.filename, source.value);
      if (why !== undefined) context.report({ node: source, messageId: 'arrow', data: { why } });
    };
    return {
      ImportDeclaration: (node) => check(node, node.source),
      ExportNamedDeclaration: (node) => check(node, node.source),
      ExportAllDeclaration: (node) => check(node, node.source),
      ImportExpression: (node) => check(node, node.source),
      TSImportType: (node) => check(node, node.source ?? node.argument?.literal),
      TSExternalModuleReference: (node) => check(node, node.expression),
      CallExpression(node) {
        if (node.callee.type === 'Identifier' && node.callee.name === 'require') check(node, node.arguments[0]);
      },
    };
  },
};

export default { meta: { name: 'house' }, rules: { layers } };
