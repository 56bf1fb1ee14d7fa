import * as vscode from 'vscode';

const MOST = 30;

/** Paths for the `@` completion: open editors first, then files whose path contains the typed letters. */
export async function findMentions(query: string): Promise<string[]> {
  const wanted = query.toLowerCase();
  const matches = (file: string) => file.toLowerCase().includes(wanted);
  const open = vscode.window.tabGroups.all.flatMap((group) => group.tabs)
    .map((tab) => (tab.input instanceof vscode.TabInputText && tab.input.uri.scheme === 'file' ? vscode.workspace.asRelativePath(tab.input.uri) : undefined))
    .filter((file) => file !== undefined);
  const letters = query.replace(/[^\p{L}\p{N}._/-]/gu, '');
  const glob = letters === '' ? '**/*' : `**/*${[...letters].map((char) => (/[a-z]/i.test(char) ? `[${char.toLowerCase()}${char.toUpperCase()}]` : char)).join('')}*`;
  const found = await vscode.workspace.findFiles(letters.includes('/') ? `**/${letters}*` : glob, undefined, MOST);
  const paths = [...open.filter(matches), ...found.map((uri) => vscode.workspace.asRelativePath(uri))];
  return [...new Set(paths)].slice(0, MOST);
}
