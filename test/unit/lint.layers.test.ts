import assert from 'node:assert/strict';
import path from 'node:path';
import { Linter } from 'eslint';
import tseslint from 'typescript-eslint';
import house from '../../eslint-rules/layers.js';

const root = path.resolve(import.meta.dirname, '../..');

function complaints(file: string, code: string): string[] {
  const linter = new Linter({ cwd: root });
  const found = linter.verify(
    code,
    [
      {
        files: ['**/*.ts', '**/*.tsx'],
        languageOptions: { parser: tseslint.parser as unknown as Linter.Parser },
        plugins: { house },
        rules: { 'house/layers': 'error' },
      },
    ] as Linter.Config[],
    path.join(root, file),
  );
  return found.map((m) => m.message);
}

describe('lint: the layers of the house', () => {
  const bad: [name: string, file: string, code: string, message: RegExp][] = [
    ['vscode in the agent', 'src/agent/loop.ts', `import * as vscode from 'vscode';`, /Only src\/host may import 'vscode'/],
    ['a type of vscode in the agent', 'src/agent/loop.ts', `type U = import('vscode').Uri;`, /Only src\/host/],
    ['a type-only import of vscode', 'src/tools/fs/read.ts', `import type { Uri } from 'vscode';`, /Only src\/host/],
    ['vscode by require', 'src/agent/loop.ts', `const v = require('vscode');`, /Only src\/host/],
    ['an upward import', 'src/registry/pipeline.ts', `import { loop } from '../agent/loop.ts';`, /registry may not import agent/],
    ['an upward re-export', 'src/seams/fs.ts', `export { a } from '../host/documents.ts';`, /seams may not import host/],
    ['an upward dynamic import', 'src/agent/loop.ts', `await import('../headless/drive.ts');`, /agent may not import headless/],
    ['the contract importing ours', 'src/contract/tool.ts', `import { x } from '../text/bytes.ts';`, /contract may not import text/],
    ['the contract importing node', 'src/contract/json.ts', `import fs from 'node:fs';`, /contract runs without Node/],
    ['the contract importing node, unprefixed', 'src/contract/json.ts', `import { join } from 'path/posix';`, /contract runs without Node/],
    ['the webview importing the agent', 'webview/chat/main.tsx', `import { x } from '../../src/agent/loop.ts';`, /webview may only import/],
    ['the webview importing vscode', 'webview/chat/main.tsx', `import 'vscode';`, /Only src\/host/],
    ['the protocol importing the session', 'src/protocol.ts', `import type { E } from './session/events.ts';`, /protocol\.ts may only import contract/],
    ['the agent importing the protocol', 'src/agent/loop.ts', `import type { M } from '../protocol.ts';`, /agent may not import protocol\.ts/],
    ['product code importing a test', 'src/host/chat.ts', `import { x } from '../../test/harness/vscode.ts';`, /stays inside/],
    ['a room nobody placed', 'src/utils/misc.ts', `export const a = 1; import '../contract/never.ts';`, /src\/utils has no place/],
  ];
  for (const [name, file, code, message] of bad) {
    it(`refuses ${name}`, () => {
      const found = complaints(file, code);
      assert.equal(found.length, 1, `${found}`);
      assert.match(found[0]!, message);
    });
  }

  const good: [name: string, file: string, code: string][] = [
    ['vscode in the host', 'src/host/documents.ts', `import * as vscode from 'vscode';`],
    ['vscode in extension.ts', 'src/extension.ts', `import type { ExtensionContext } from 'vscode';`],
    ['a downward import', 'src/agent/loop.ts', `import type { Tool } from '../contract/tool.ts';`],
    ['an import in the same row', 'src/review/plugin.ts', `import { decide } from '../policy/presets.ts';`],
    ['an import in the same room', 'src/contract/tool.ts', `import { assertNever } from './never.ts';`],
    ['the runtime importing tools', 'src/runtime.ts', `import { read } from './tools/fs/read.ts';`],
    ['the host importing the runtime', 'src/host/compose.ts', `import { start } from '../runtime.ts';`],
    ['node in the tools', 'src/tools/fs/read.ts', `import fs from 'node:fs/promises';`],
    ['the webview importing the protocol', 'webview/chat/main.tsx', `import type { M } from '../../src/protocol.ts';`],
    ['a test importing anything', 'test/unit/a.test.ts', `import { a } from '../../src/agent/loop.ts'; import 'vscode';`],
  ];
  for (const [name, file, code] of good) {
    it(`allows ${name}`, () => assert.deepEqual(complaints(file, code), []));
  }
});
