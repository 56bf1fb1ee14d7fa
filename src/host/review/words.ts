import * as vscode from 'vscode';
import { assertNever } from '../../contract/never.ts';
import type { ReviewProblem } from '../../seams/review.ts';

/** What went wrong with a review, for the user. */
export function problemText(problem: ReviewProblem): string {
  switch (problem.kind) {
    case 'failed': return vscode.l10n.t('Not carried out: {0}', problem.message);
    case 'drift': return problem.lost === 1 ? vscode.l10n.t('1 change was given up: the file was changed at these lines.')
      : vscode.l10n.t('{0} changes were given up: the file was changed at these lines.', problem.lost);
    default: return assertNever(problem, 'problem');
  }
}
