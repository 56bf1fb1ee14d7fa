import { Language, Parser } from 'web-tree-sitter';
import type { SyntaxNode } from './command.ts';

/** Absolute paths of the parser's own wasm file and of the bash grammar. */
export interface GrammarFiles { readonly runtime: string; readonly bash: string }

/**
 * The lazy bundle with the parser in it: loaded when the first command is judged, never at activation. `use` gets a tree
 * that is gone afterwards.
 */
export async function createBashParser(files: GrammarFiles): Promise<<T>(command: string, use: (root: SyntaxNode) => T) => T> {
  await Parser.init({ locateFile: () => files.runtime });
  const language = await Language.load(files.bash);
  return (command, use) => {
    const parser = new Parser();
    try {
      parser.setLanguage(language);
      const tree = parser.parse(command);
      if (!tree) throw new Error('the command could not be parsed');
      try {
        return use(tree.rootNode);
      } finally {
        tree.delete();
      }
    } finally {
      parser.delete();
    }
  };
}
