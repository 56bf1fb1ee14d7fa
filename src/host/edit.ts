import * as vscode from 'vscode';
import { lighterSplices, type Splice } from '../text/splice.ts';

/** One undoable edit of a document that holds `text`. */
export function editOf(document: vscode.TextDocument, text: string, splices: readonly Splice[]): vscode.WorkspaceEdit {
  const edit = new vscode.WorkspaceEdit();
  edit.set(document.uri, lighterSplices(text, splices).map(({ start, end, text: inserted }) => vscode.TextEdit.replace(new vscode.Range(document.positionAt(start), document.positionAt(end)), inserted)));
  return edit;
}
