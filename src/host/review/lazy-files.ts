import * as vscode from 'vscode';

/**
 * The file system `dsh-review:` as VS Code knows it from activation on; the provider behind it is loaded when a staged
 * file is first asked for, so that diff editors restored after a reload find their text.
 */
export class LazyReviewFiles implements vscode.FileSystemProvider {
  readonly #load: () => Promise<vscode.FileSystemProvider>;
  readonly #changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.#changed.event;
  #provider: Promise<vscode.FileSystemProvider> | undefined;

  constructor(load: () => Promise<vscode.FileSystemProvider>) {
    this.#load = load;
  }

  #get(): Promise<vscode.FileSystemProvider> {
    return (this.#provider ??= this.#load().then((provider) => {
      provider.onDidChangeFile((events) => this.#changed.fire(events));
      return provider;
    }));
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    return (await this.#get()).stat(uri);
  }

  async readDirectory(uri: vscode.Uri): Promise<[string, vscode.FileType][]> {
    return (await this.#get()).readDirectory(uri);
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    return (await this.#get()).readFile(uri);
  }

  async writeFile(uri: vscode.Uri, content: Uint8Array, options: { create: boolean; overwrite: boolean }): Promise<void> {
    await (await this.#get()).writeFile(uri, content, options);
  }

  createDirectory(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  delete(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }
}
