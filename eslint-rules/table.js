/**
 * The house's layers, lowest row first. A room may import from its own row and from the rows below it.
 * A name that ends in `.ts` is a file directly in `src/`; every other name is a folder there.
 */
export const ROWS = [
  ['contract'],
  ['scope', 'text'],
  ['session', 'prompt'],
  ['registry', 'model', 'jobs'],
  ['seams'],
  ['agent'],
  ['tools', 'policy', 'review', 'plugins', 'transcript', 'code-mode', 'interop'],
  ['runtime.ts'],
  ['headless', 'host'],
  ['extension.ts'],
];

/** Rooms beside the rows: what each may import, besides its own folder. */
export const SIDE_ROOMS = {
  'protocol.ts': ['contract'],
  webview: ['protocol.ts', 'contract'],
};

/** Files directly in `src/` that only these rooms and rows at or above them may import. */
export const SIDE_IMPORTERS = {
  'protocol.ts': ['host', 'extension.ts', 'transcript', 'runtime.ts', 'headless', 'webview'],
};

/** The only rooms that may import the module `vscode`. */
export const VSCODE_ROOMS = ['host', 'extension.ts'];

/** Rooms that must run where there is no Node. */
export const NO_NODE_ROOMS = ['contract', 'protocol.ts', 'webview'];
