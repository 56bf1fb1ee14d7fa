import * as vscode from 'vscode';

/**
 * API keys: kept in SecretStorage only (L3, L5), never in settings, a view, a log or an export. The user is asked when
 * a key is first needed; several requests that need the same key share one question.
 */
export class ApiKeys {
  readonly #asking = new Map<string, Promise<string | undefined>>();
  readonly #storage: vscode.SecretStorage;

  constructor(storage: vscode.SecretStorage) {
    this.#storage = storage;
  }

  #slot(provider: string): string {
    return `dshHost.apiKey.${provider}`;
  }

  async get(provider: string): Promise<string | undefined> {
    return (await this.#storage.get(this.#slot(provider))) ?? undefined;
  }

  /** The stored key, or the one the user types now. Undefined when the user dismisses the question. */
  async getOrAsk(provider: string, providerName: string): Promise<string | undefined> {
    const stored = await this.get(provider);
    if (stored !== undefined) return stored;
    let asking = this.#asking.get(provider);
    if (asking === undefined) {
      asking = this.ask(provider, providerName).finally(() => this.#asking.delete(provider));
      this.#asking.set(provider, asking);
    }
    return asking;
  }

  /** Asks for a key and stores it. */
  async ask(provider: string, providerName: string): Promise<string | undefined> {
    const typed = await vscode.window.showInputBox({
      title: vscode.l10n.t('API Key for {0}', providerName),
      prompt: vscode.l10n.t('Kept in the secret storage of VS Code on this machine.'),
      password: true,
      ignoreFocusOut: true,
      validateInput: (value) => (value.trim() === '' || /\s/.test(value.trim()) ? vscode.l10n.t('Enter the key without spaces.') : undefined),
    });
    const key = typed?.trim();
    if (key === undefined || key === '') return undefined;
    await this.#storage.store(this.#slot(provider), key);
    return key;
  }

  async remove(provider: string): Promise<void> {
    await this.#storage.delete(this.#slot(provider));
  }

  onChange(listener: () => void): vscode.Disposable {
    return this.#storage.onDidChange((event) => {
      if (event.key.startsWith('dshHost.apiKey.')) listener();
    });
  }
}
