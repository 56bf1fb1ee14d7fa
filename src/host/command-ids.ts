/** Every command of ours, without the `dshHost.` prefix; package.json lists the same (a test compares them). */
export const COMMANDS = [
  'openChat', 'openChatInEditor', 'newSession', 'showSessions', 'deleteSession', 'exportSession', 'stop', 'addSelection',
  'selectModel', 'selectPreset', 'setApiKey', 'removeApiKey', 'showLog', 'showPlugins', 'reloadPlugins', 'reloadPlugin',
  'openPluginSource', 'openToolGuide', 'openSettings', 'showChanges',
  'review.openDiff', 'review.acceptFile', 'review.rejectFile', 'review.rejectFileWithNote', 'review.acceptHunk', 'review.rejectHunk',
  'review.nextHunk', 'review.previousHunk', 'review.acceptAll', 'review.rejectAll', 'review.rejectHunkWithNote', 'review.openTurn', 'review.rewind', 'review.undoRewind',
  'review.keepFile', 'review.undoFile', 'review.undoFileWithNote', 'review.keepHunk', 'review.undoHunk', 'review.keepAll', 'review.undoAll', 'review.undoHunkWithNote',
] as const;

export type CommandId = (typeof COMMANDS)[number];
/** What each command does; arguments are as VS Code passes them for the menu in question. */
export type CommandTable = Record<CommandId, (...args: unknown[]) => unknown>;
