import { createRequire } from 'node:module';
import type { GrammarFiles } from '../policy/grammar-entry.ts';

/** Where an installed checkout has the shell grammar; undefined: then every command asks. */
export function installedGrammar(): GrammarFiles | undefined {
  const { resolve } = createRequire(import.meta.url);
  try {
    return {
      runtime: resolve('web-tree-sitter/web-tree-sitter.wasm'),
      bash: resolve('@vscode/tree-sitter-wasm/wasm/tree-sitter-bash.wasm'),
    };
  } catch {
    return undefined;
  }
}
