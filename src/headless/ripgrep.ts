import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Service } from '@deepseek-ai/cordis';
import type { Context } from '@deepseek-ai/cordis';
import { HarnessError } from '../contract/error.ts';
import type { RipgrepLocator } from '../seams/search.ts';

export interface RipgrepConfig {
  /** A binary the user chose: the only one then. */
  readonly program?: string;
  /** Root of the running editor (`vscode.env.appRoot`), which brings a ripgrep of its own. */
  readonly appRoot?: string;
  /** Default: this process's. `DSH_RIPGREP` names a binary. */
  readonly env?: NodeJS.ProcessEnv;
  /** Where the package `@vscode/ripgrep` is looked up from; default: this file. false: nowhere. */
  readonly packagesFrom?: string | false;
  /** Platform and architecture to look for; default: this machine's. */
  readonly platform?: NodeJS.Platform;
  readonly arch?: string;
}

/**
 * Every place a ripgrep may be, best first, each with why it is one (I7). Editors have moved theirs several times: beside
 * the archive, into a package for all platforms, into a package a platform.
 */
export function ripgrepPlaces(config: RipgrepConfig): string[] {
  const platform = config.platform ?? process.platform;
  const arch = config.arch ?? process.arch;
  const env = config.env ?? process.env;
  const binary = platform === 'win32' ? 'rg.exe' : 'rg';
  if (config.program !== undefined && config.program !== '') return [config.program];
  const places: string[] = [];
  if (env.DSH_RIPGREP !== undefined && env.DSH_RIPGREP !== '') places.push(env.DSH_RIPGREP);
  if (config.appRoot !== undefined) {
    for (const modules of ['node_modules', 'node_modules.asar.unpacked']) {
      const folder = path.join(config.appRoot, modules);
      places.push(
        path.join(folder, '@vscode', 'ripgrep', 'bin', binary),
        path.join(folder, '@vscode', 'ripgrep-universal', 'bin', `${platform}-${arch}`, binary),
        path.join(folder, '@vscode', `ripgrep-${platform}-${arch}`, 'bin', binary),
        path.join(folder, 'vscode-ripgrep', 'bin', binary),
      );
    }
  }
  if (config.packagesFrom !== false) {
    try {
      places.push(createRequire(config.packagesFrom ?? import.meta.url).resolve(`@vscode/ripgrep-${platform}-${arch}/bin/${binary}`));
    } catch {
      // not installed: an extension does not carry it
    }
  }
  for (const folder of (env.PATH ?? env.Path ?? '').split(path.delimiter)) {
    // a relative entry would run what lies in the workspace
    if (path.isAbsolute(folder)) places.push(path.join(folder, binary));
  }
  return places;
}

async function runnable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

/** `ctx.ripgrep` on plain Node. */
export class NodeRipgrep extends Service implements RipgrepLocator {
  private readonly config: RipgrepConfig;
  private found: string | undefined;

  constructor(ctx: Context, config: RipgrepConfig = {}) {
    super(ctx, 'ripgrep');
    this.config = config;
  }

  async locate(): Promise<string> {
    // an editor that updates itself removes the binary that was there a moment ago
    if (this.found !== undefined && (await runnable(this.found))) return this.found;
    const places = ripgrepPlaces(this.config);
    for (const place of places) if (await runnable(place)) return (this.found = place);
    throw new HarnessError(
      `no ripgrep (rg) found; install it, or set DSH_RIPGREP to the binary. Looked at:${places.map((place) => `\n- ${place}`).join('')}`,
      'RIPGREP_NOT_FOUND',
    );
  }
}
