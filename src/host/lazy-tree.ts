import * as vscode from 'vscode';

/** A tree whose provider is loaded when VS Code first asks for children. Nodes are opaque here. */
export class LazyTree implements vscode.TreeDataProvider<object> {
  readonly #load: () => Promise<vscode.TreeDataProvider<object>>;
  readonly #changed = new vscode.EventEmitter<object | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  #provider: Promise<vscode.TreeDataProvider<object>> | undefined;

  constructor(load: () => Promise<vscode.TreeDataProvider<object>>) {
    this.#load = load;
  }

  #get(): Promise<vscode.TreeDataProvider<object>> {
    return (this.#provider ??= this.#load().then((provider) => {
      provider.onDidChangeTreeData?.((node) => this.#changed.fire((Array.isArray(node) ? undefined : node) ?? undefined));
      return provider;
    }));
  }

  async getTreeItem(node: object): Promise<vscode.TreeItem> {
    return (await this.#get()).getTreeItem(node);
  }

  async getChildren(node?: object): Promise<object[]> {
    return (await (await this.#get()).getChildren(node)) ?? [];
  }
}
