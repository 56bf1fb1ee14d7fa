import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import type { Context } from '@deepseek-ai/cordis';
import { ChatCompletionsAdapter } from '../model/chat-completions/adapter.ts';
import { DEEPSEEK_DEFAULT_MODEL, DEEPSEEK_PROVIDER, deepseekEndpoint, type Endpoint } from '../model/chat-completions/endpoint.ts';
import { OFFLINE_MODEL, OFFLINE_PROVIDER, OfflineAdapter } from '../model/offline/adapter.ts';
import { parseScript } from '../model/script.ts';
import { SCRIPTED_MODEL, SCRIPTED_PROVIDER, ScriptedAdapter } from '../model/scripted.ts';
import type { LlmModelInfo } from '../model/types.ts';
import { LANGUAGE_MODEL_PROVIDER, LanguageModelAdapter } from './language-models/adapter.ts';
import { errorText, log } from './log.ts';
import type { ApiKeys } from './secrets.ts';
import { SEARCH_SERVICES } from './web.ts';
import { onSettingChange, setting, updateSetting, type ProviderSetting } from './settings.ts';

export interface ModelChoice { readonly provider: string; readonly model: string }

/** Where well-known local servers listen (design 7): asked only while the picker is open. */
const LOCAL: readonly ProviderSetting[] = [
  { id: 'ollama', name: 'Ollama', baseUrl: 'http://127.0.0.1:11434/v1', needsKey: false },
  { id: 'lm-studio', name: 'LM Studio', baseUrl: 'http://127.0.0.1:1234/v1', needsKey: false },
  { id: 'llama-cpp', name: 'llama.cpp', baseUrl: 'http://127.0.0.1:8080/v1', needsKey: false },
  { id: 'vllm', name: 'vLLM', baseUrl: 'http://127.0.0.1:8000/v1', needsKey: false },
];
const PROBE_MS = 400;
/** Providers that are ours: a setting can't take their names. */
const RESERVED: ReadonlySet<string> = new Set([OFFLINE_PROVIDER, SCRIPTED_PROVIDER, LANGUAGE_MODEL_PROVIDER]);

/** The models a user can pick, and the one in use. */
export class Models implements vscode.Disposable {
  readonly #ctx: Context;
  readonly #keys: ApiKeys;
  readonly #testing: boolean;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onChange = this.#changed.event;
  readonly #subscriptions: vscode.Disposable[];
  #endpoints: readonly Endpoint[] = [];
  #unregister: (() => void) | undefined;
  #scripted: { file: string; unregister: () => void } | undefined;
  #hasDefaultKey = false;

  /** `testing`: the `scripted:` model may be used (development and test mode only). */
  constructor(ctx: Context, keys: ApiKeys, testing: boolean) {
    this.#ctx = ctx;
    this.#keys = keys;
    this.#testing = testing;
    ctx.llm.registerAdapter([OFFLINE_PROVIDER], new OfflineAdapter());
    ctx.llm.registerAdapter([LANGUAGE_MODEL_PROVIDER], new LanguageModelAdapter());
    this.#register();
    this.#subscriptions = [
      onSettingChange(['providers'], () => {
        this.#register();
        this.#changed.fire();
      }),
      onSettingChange(['model'], () => this.#changed.fire()),
      vscode.lm.onDidChangeChatModels(() => this.#changed.fire()),
      keys.onChange(() => void this.refresh()),
      this.#changed,
    ];
  }

  /** Learns whether the default provider has a key; call once before {@link current}. */
  async refresh(): Promise<void> {
    this.#hasDefaultKey = (await this.#keys.get(DEEPSEEK_PROVIDER)) !== undefined;
    this.#changed.fire();
  }

  #register(): void {
    this.#unregister?.();
    const byId = new Map<string, Endpoint>([[DEEPSEEK_PROVIDER, deepseekEndpoint(process.env['DEEPSEEK_BASE_URL'])]]);
    for (const provider of setting('providers')) {
      if (typeof provider?.id !== 'string' || typeof provider.baseUrl !== 'string' || !URL.canParse(provider.baseUrl) || RESERVED.has(provider.id)) {
        log().warn(`dshHost.providers: an entry without a usable "id" and "baseUrl" was ignored: ${JSON.stringify(provider?.id)}`);
        continue;
      }
      byId.set(provider.id, endpointOf(provider));
    }
    this.#endpoints = [...byId.values()];
    const adapter = new ChatCompletionsAdapter({
      endpoints: this.#endpoints,
      getApiKey: (provider) => this.#key(provider),
      warn: (message) => log().warn(message),
      readImage: async (id) => this.#ctx.get('attachments')?.dataUrl(id),
    });
    this.#unregister = this.#ctx.llm.registerAdapter(this.#endpoints.map((endpoint) => endpoint.id), adapter);
  }

  async #key(provider: string): Promise<string | undefined> {
    const endpoint = this.#endpoints.find((candidate) => candidate.id === provider);
    if (endpoint?.needsKey !== true) return this.#keys.get(provider);
    return this.#keys.getOrAsk(provider, endpoint.name);
  }

  /** The provider and model that requests go to now. */
  current(): ModelChoice {
    const wanted = setting('model');
    if (wanted.startsWith('scripted:') && this.#testing) return this.#script(wanted.slice('scripted:'.length));
    const slash = wanted.indexOf('/');
    if (slash > 0) {
      const provider = wanted.slice(0, slash);
      if (this.#ctx.llm.listProviders().some((known) => known.id === provider)) return { provider, model: wanted.slice(slash + 1) };
      log().warn(`dshHost.model: no provider is called "${provider}"`);
    }
    if (wanted !== OFFLINE_PROVIDER && wanted !== '' && slash <= 0) log().warn(`dshHost.model: expected "provider/model" or "offline", got "${wanted}"`);
    if (wanted !== OFFLINE_PROVIDER && this.#hasDefaultKey) return { provider: DEEPSEEK_PROVIDER, model: DEEPSEEK_DEFAULT_MODEL };
    return { provider: OFFLINE_PROVIDER, model: OFFLINE_MODEL };
  }

  /** A script is read when it is first used, and again only when the setting names another file. */
  #script(file: string): ModelChoice {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '';
    const absolute = path.resolve(folder, file);
    if (this.#scripted?.file !== absolute) {
      this.#scripted?.unregister();
      this.#scripted = undefined;
      if (!existsSync(absolute)) throw new Error(`dshHost.model: the script "${absolute}" does not exist`);
      const adapter = new ScriptedAdapter(parseScript(readFileSync(absolute, 'utf8'), absolute), path.basename(absolute));
      this.#scripted = { file: absolute, unregister: this.#ctx.llm.registerAdapter([SCRIPTED_PROVIDER], adapter) };
    }
    return { provider: SCRIPTED_PROVIDER, model: SCRIPTED_MODEL };
  }

  async describe(choice: ModelChoice): Promise<LlmModelInfo> {
    return this.#ctx.llm.resolveModel(choice.provider, choice.model);
  }

  providerName(provider: string): string {
    return this.#ctx.llm.listProviders().find((known) => known.id === provider)?.name ?? provider;
  }

  isOffline(choice: ModelChoice): boolean {
    return choice.provider === OFFLINE_PROVIDER;
  }

  /** Asks for the key of one of the providers that need one. */
  async setKey(provider?: string): Promise<void> {
    const chosen = await this.#pickProvider(provider, vscode.l10n.t('Select the provider the key is for'));
    if (chosen !== undefined && (await this.#keys.ask(chosen.id, chosen.name)) !== undefined) await this.refresh();
  }

  async removeKey(): Promise<void> {
    const chosen = await this.#pickProvider(undefined, vscode.l10n.t('Select the provider whose key is removed'));
    if (chosen !== undefined) await this.#keys.remove(chosen.id);
  }

  async #pickProvider(id: string | undefined, placeHolder: string): Promise<{ id: string; name: string } | undefined> {
    const models = this.#endpoints.filter((endpoint) => endpoint.needsKey).map(({ id, name, baseURL }) => ({ id, name, detail: baseURL }));
    const searches = Object.entries(SEARCH_SERVICES).map(([id, name]) => ({ id, name, detail: vscode.l10n.t('Web search') }));
    const all = [...models, ...searches];
    const known = all.find((candidate) => candidate.id === id);
    if (known !== undefined) return known;
    return vscode.window.showQuickPick(all.map((candidate) => ({ ...candidate, label: candidate.name, description: candidate.detail, detail: '' })), { placeHolder });
  }

  /** Lets the user pick a model; the choice becomes the setting. */
  async pick(): Promise<void> {
    type Item = vscode.QuickPickItem & { choice?: ModelChoice; add?: ProviderSetting };
    const quickPick = vscode.window.createQuickPick<Item>();
    quickPick.placeholder = vscode.l10n.t('Select a model');
    quickPick.matchOnDescription = true;
    quickPick.busy = true;
    const current = this.current();
    const items: Item[] = [];
    const show = () => (quickPick.items = [...items]);
    const abort = new AbortController();
    quickPick.onDidHide(() => {
      abort.abort();
      quickPick.dispose();
    });
    quickPick.onDidAccept(async () => {
      const item = quickPick.selectedItems[0];
      quickPick.hide();
      if (item?.add !== undefined) await updateSetting('providers', [...setting('providers'), item.add]);
      if (item?.choice !== undefined) {
        await updateSetting('model', item.choice.provider === OFFLINE_PROVIDER ? OFFLINE_PROVIDER : `${item.choice.provider}/${item.choice.model}`);
      }
    });
    quickPick.show();
    const add = async (provider: string, name: string) => {
      try {
        const models = await this.#ctx.llm.listModels(provider, abort.signal);
        if (models.length === 0) return;
        items.push({ label: name, kind: vscode.QuickPickItemKind.Separator }, ...models.map((model) => ({
          label: model.name, ...(model.description === undefined ? {} : { detail: model.description }), choice: { provider, model: model.id },
          ...(current.provider === provider && current.model === model.id ? { description: vscode.l10n.t('In use') } : {}),
        })));
      } catch (error) {
        items.push({ label: name, kind: vscode.QuickPickItemKind.Separator }, { label: vscode.l10n.t('Models can not be listed'), detail: errorText(error) });
      }
      show();
    };
    await Promise.all(this.#ctx.llm.listProviders().filter((provider) => provider.id !== SCRIPTED_PROVIDER).map((provider) => add(provider.id, provider.name)));
    const found = await this.#probe(abort.signal);
    if (found.length > 0) items.push({ label: vscode.l10n.t('Found on this machine'), kind: vscode.QuickPickItemKind.Separator });
    for (const { provider, models } of found) {
      items.push(...models.map((model): Item => ({ label: model, description: provider.name ?? provider.id, choice: { provider: provider.id, model }, add: provider })));
    }
    show();
    quickPick.busy = false;
  }

  async #probe(signal: AbortSignal): Promise<{ provider: ProviderSetting; models: string[] }[]> {
    const configured = new Set(this.#endpoints.map((endpoint) => endpoint.baseURL));
    const answers = await Promise.all(LOCAL.filter((provider) => !configured.has(provider.baseUrl)).map(async (provider) => {
      try {
        const response = await fetch(`${provider.baseUrl}/models`, { signal: AbortSignal.any([signal, AbortSignal.timeout(PROBE_MS)]) });
        const body = (await response.json()) as { data?: { id?: unknown }[] };
        const models = (body.data ?? []).map((model) => model.id).filter((id): id is string => typeof id === 'string');
        return { provider, models };
      } catch {
        return { provider, models: [] };
      }
    }));
    return answers.filter((answer) => answer.models.length > 0);
  }

  dispose(): void {
    this.#scripted?.unregister();
    this.#unregister?.();
    for (const subscription of this.#subscriptions) subscription.dispose();
  }
}

function endpointOf(provider: ProviderSetting): Endpoint {
  const models = provider.models?.map((id): LlmModelInfo => ({
    provider: provider.id, id, name: id, ...(provider.contextWindow === undefined ? {} : { contextWindow: provider.contextWindow }),
  }));
  return {
    id: provider.id, name: provider.name ?? provider.id, baseURL: provider.baseUrl, needsKey: provider.needsKey ?? true,
    dialect: new URL(provider.baseUrl).hostname === 'api.deepseek.com' ? 'deepseek' : 'generic', ...(models === undefined || models.length === 0 ? {} : { models }),
  };
}
