import * as vscode from 'vscode';

/** How long saving may take, formatters and code actions included: an editor that went away meanwhile never answers. Milliseconds. */
const SAVE_MS = 30_000;
/** How often a save that VS Code refused is asked for again. */
const ATTEMPTS = 4;
/** How long a save under way may take to end before it is asked for again. Milliseconds. */
const UNDER_WAY_MS = 2_500;

/**
 * Saves a document and says whether it is on disk. While VS Code saves it already (auto-save, with formatters still at
 * work) it refuses a second save with `false` at once: then that one is waited for, and what is left is saved.
 */
export async function saveDocument(document: vscode.TextDocument): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    const ended = watch(document);
    try {
      if (await within(SAVE_MS, document.save()) || !document.isDirty) return true;
      if (attempt === ATTEMPTS) return false;
      await within(UNDER_WAY_MS, ended.saved);
      if (!document.isDirty) return true;
    } finally {
      ended.dispose();
    }
  }
}

function watch(document: vscode.TextDocument): vscode.Disposable & { readonly saved: Promise<true> } {
  let listener: vscode.Disposable | undefined;
  const saved = new Promise<true>((resolve) => {
    listener = vscode.workspace.onDidSaveTextDocument((other) => {
      if (other === document) resolve(true);
    });
  });
  return { saved, dispose: () => void listener?.dispose() };
}

async function within(ms: number, what: Thenable<boolean>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    return await Promise.race([what, new Promise<false>((resolve) => { timer = setTimeout(() => resolve(false), ms); })]);
  } finally {
    clearTimeout(timer);
  }
}
