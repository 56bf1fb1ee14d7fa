import path from 'node:path';
import { openVSCode, runCommand, sendMessage, shotOfFailure, webviewFrame, type VSCode } from '../harness/vscode.ts';

const PROVIDER = path.resolve(import.meta.dirname, '../fixtures/language-model');

describe('language models that VS Code has', function () {
  this.timeout(180_000);
  let vscode: VSCode | undefined;
  afterEach(async function () {
    await shotOfFailure(this.currentTest, vscode);
    await vscode?.close();
    vscode = undefined;
  });

  it('one is picked, calls tools, is stopped in mid-stream, and its error is told', async () => {
    vscode = await openVSCode({ files: { 'note.txt': 'the tide is high\n' }, extensions: [PROVIDER] });
    const { page } = vscode;
    await runCommand(page, 'DSH: Open Chat');
    const chat = await webviewFrame(page, '.composer-input');
    const say = (text: string): Promise<void> => sendMessage(chat, text);

    await runCommand(page, 'DSH: Select Model');
    await page.locator('.quick-input-list .monaco-list-row', { hasText: 'Grey Parrot' }).click();
    await chat.getByText('Grey Parrot').first().waitFor();
    await say('What does note.txt say?');
    await chat.locator('.card-toggle[title*="Read note.txt"]').waitFor();
    await chat.getByText(/It says:.*the tide is high/s).first().waitFor();
    await vscode.shot('language-model');

    await say('Talk on.');
    await chat.getByText('word5').first().waitFor();
    await chat.getByRole('button', { name: /^Stop/ }).first().click();
    await chat.getByText(/Stopped/i).first().waitFor();

    await say('Break.');
    await chat.getByText(/the parrot has flown/).first().waitFor();
  });
});
