/**
 * Everything esbuild makes, as lists: add a line here to add a bundle.
 *
 * `lazy`   code the host loads when first needed (never at activation). Key: name of the file in dist/.
 *          The host imports the entry by its source path, `await import('../plugins/loader-entry.ts')`; the build turns
 *          that import into `./<name>.cjs`, and under tsx or mocha it is the plain module.
 *          Identity: a lazy bundle never holds a second copy of what the main bundle has. `@deepseek-ai/*` is taken from
 *          the host's instance (LENT below), and the build fails when a lazy bundle contains a file of src/ that the host
 *          bundle has too: import it as a type, or take it as an argument. Pure files may be listed in MAY_REPEAT.
 * `worker` a file run by `new Worker(path)`: dist/<name>.cjs. Another thread, so nothing is shared.
 * `webview` browser code: dist/webview/<name>.js, with <name>.css beside it when the entry imports styles. IIFE, so both
 *          `<script>` and `<script type="module">` load it.
 */
export const HOST = 'src/extension.ts';

/** The host itself, loaded by `extension.ts` when it is first used. It holds the lent modules (LENT below). */
export const MAIN = { main: 'src/host/main.ts' };

export const LAZY = {
  plugins: 'src/plugins/loader-entry.ts',
  grammar: 'src/policy/grammar-entry.ts',
};

export const WORKERS = {
  'html-markdown': 'src/tools/web/markdown-worker.ts',
};

export const WEBVIEWS = {
  chat: 'webview/chat/main.tsx',
  results: 'webview/results/main.tsx',
  // fetched by the other two when they first show code
  highlight: 'webview/ui/highlight/main.ts',
};

/** Modules of which the process may hold one instance only: lazy bundles get the host bundle's. */
export const LENT = ['@deepseek-ai/cordis', '@deepseek-ai/schemastery'];

/** Files of src/ that hold no state and no identity (no class, symbol, WeakMap), so that a second copy does no harm. */
export const MAY_REPEAT = ['src/contract/never.ts', 'src/host/chat/html.ts'];

/** Files copied as they are: [from, name below dist/]. */
export const COPIES = [
  ['node_modules/@vscode/codicons/dist/codicon.css', 'webview/codicon.css'],
  ['node_modules/@vscode/codicons/dist/codicon.ttf', 'webview/codicon.ttf'],
  ['node_modules/web-tree-sitter/web-tree-sitter.wasm', 'web-tree-sitter.wasm'],
  ['node_modules/@vscode/tree-sitter-wasm/wasm/tree-sitter-bash.wasm', 'tree-sitter-bash.wasm'],
];
