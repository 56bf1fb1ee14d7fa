import type { Context } from '@deepseek-ai/cordis';
import * as vscode from 'vscode';
import type { Session } from '../../contract/agent.ts';
import { showError } from '../log.ts';

/** Tells the user when a session can't be written, when it is written after all, and when it goes on in a copy; `moved` is told, too. */
export function tellOfWriting(ctx: Context, moved: (session: Session, copy: string) => void): void {
  ctx.on('session/write-error', (_session, error) => showError(vscode.l10n.t('The session could not be written to disk'), error));
  ctx.on('session/write-recovered', () => {
    void vscode.window.showInformationMessage(vscode.l10n.t('The session is written to disk again. Nothing of it was lost.'));
  });
  ctx.on('session/moved', (session, copy) => {
    void vscode.window.showWarningMessage(vscode.l10n.t('Another window took over this session. All that was said here is kept in a copy of it, which goes on.'));
    moved(session, copy);
  });
}
