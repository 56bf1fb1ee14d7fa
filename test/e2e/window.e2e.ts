import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { openVSCode, runCommand, sendMessage, shotOfFailure, tab, webviewFrame, type VSCode } from '../harness/vscode.ts';

const EXAMPLES = path.resolve(import.meta.dirname, '../../examples/workspace');

describe('the window, as a newcomer has it', function () {
  this.timeout(180_000);
  let vscode: VSCode | undefined;
  afterEach(async function () {
    await shotOfFailure(this.currentTest, vscode);
    await vscode?.close();
    vscode = undefined;
  });

  it('greets Ada with no key and no network; a saved plugin answers anew; the chat also lives in an editor tab', async () => {
    vscode = await openVSCode({ from: EXAMPLES, settings: { 'workbench.colorTheme': 'Default Dark Modern' } });
    const { page } = vscode;
    await runCommand(page, 'DSH: Open Chat');
    const chat = await webviewFrame(page, '.composer-input');
    await sendMessage(chat, 'Use the greet tool to greet Ada.');
    await chat.locator('.card', { hasText: 'Hello, Ada!' }).locator('.status-completed').waitFor();
    await vscode.shot('docs/greet');

    const plugin = path.join(vscode.workspace, 'plugins/greet.ts');
    writeFileSync(plugin, readFileSync(plugin, 'utf8').replace('Hello, ', 'Good evening, '));
    for (let i = 0; i < 10 && (await chat.locator('.card', { hasText: 'Good evening, Bob!' }).count()) === 0; i++) {
      await sendMessage(chat, 'Use the greet tool to greet Bob.');
      await page.waitForTimeout(1_000);
    }
    await chat.locator('.card', { hasText: 'Good evening, Bob!' }).first().waitFor();

    await runCommand(page, 'DSH: Open Chat in Editor');
    await tab(page, 'DSH Chat').waitFor();
    await page.waitForTimeout(500);
    const frames = page.frames().filter((frame) => frame !== chat);
    const editor = await Promise.any(frames.map(async (frame) => {
      await frame.locator('.card', { hasText: 'Good evening, Bob!' }).first().waitFor({ timeout: 20_000 });
      return frame;
    }));
    await sendMessage(editor, '/read README.md');
    await chat.locator('.card-toggle[title*="Read README.md"]').waitFor();
    await vscode.shot('docs/editor-tab');
  });

  it('F9 a start that failed is told, and the next command tries again', async () => {
    vscode = await openVSCode();
    const { page, profileDir } = vscode;
    const chat = await webviewFrame(page, '.composer-input');
    await chat.locator('.composer-input').waitFor();
    // with the chat in sight it would be the one that starts the host
    await runCommand(page, 'View: Hide Secondary Side Bar');
    await page.locator('.part.auxiliarybar').waitFor({ state: 'hidden' });
    const installed = path.join(profileDir, 'ext');
    const main = path.join(installed, readdirSync(installed).find((name) => name.startsWith('dsh-host.dsh-host'))!, 'dist/main.cjs');
    renameSync(main, `${main}.away`);
    await vscode.reload();
    await runCommand(page, 'DSH: Show Sessions');
    await page.locator('.notification-toast', { hasText: 'DSH could not start' }).waitFor();
    assert.equal(await page.locator('.notification-toast', { hasText: 'The command did not work' }).count(), 0);
    renameSync(`${main}.away`, main);
    await runCommand(page, 'DSH: Open Chat');
    const again = await webviewFrame(page, '.composer-input');
    await sendMessage(again, 'Hello.');
    await again.locator('.user', { hasText: 'Hello.' }).waitFor();
  });

  it('a workspace that is not trusted loads no plugin, and nothing in it is written or run', async () => {
    vscode = await openVSCode({ from: EXAMPLES, trustPrompt: true, settings: { 'workbench.colorTheme': 'Default Light Modern', 'security.workspace.trust.startupPrompt': 'never' } });
    const { page } = vscode;
    await runCommand(page, 'DSH: Open Chat');
    const chat = await webviewFrame(page, '.composer-input');
    await chat.getByText('Manage Trust').first().waitFor();
    await sendMessage(chat, '/bash touch made.txt');
    await chat.locator('.card-error', { hasText: 'not trusted' }).waitFor();
    assert.equal(existsSync(path.join(vscode.workspace, 'made.txt')), false);
    await sendMessage(chat, 'Use the greet tool to greet Ada.');
    await chat.getByText(/no tool|greet/i).last().waitFor();
    assert.equal(await chat.locator('.card', { hasText: 'Hello, Ada!' }).count(), 0);
    await vscode.shot('docs/untrusted');
  });

  it('a window without a folder says what works, and offers to open one', async () => {
    vscode = await openVSCode({ folder: false });
    const { page } = vscode;
    await runCommand(page, 'DSH: Open Chat');
    const chat = await webviewFrame(page, '.composer-input');
    await chat.getByText('No folder is open', { exact: false }).waitFor();
    assert.equal(await chat.getByText('git status').count(), 0);
    await chat.getByRole('button', { name: 'Open Folder' }).click();
    await page.locator('.quick-input-widget', { hasText: 'Open Folder' }).waitFor();
  });
});
