import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { createJiti } from 'jiti/static';
import { lendToRequire } from './lend.ts';
import type { CreatePluginLoader, LoadedModule } from './loader.ts';

/**
 * The lazy bundle with the TypeScript compiler in it: loaded when the first plugin is, never at activation. It gets the
 * lent modules as an argument, so it holds no second copy of anything.
 *
 * Modules are evaluated the way `require` does it. jiti's `import` hands plain ESM files to node, which keeps them for
 * good (no reload) and finds installed copies of the modules that we lend. Only a file that awaits at its top level is
 * evaluated the other way, because it must.
 */
export const createPluginLoader: CreatePluginLoader = ({ modules, folder }) => {
  const cache = createRequire(path.join(folder, 'x.js')).cache;
  const loaded = new Map<string, readonly string[]>();
  const places = new Set([folder + path.sep]);
  const own = (file: string) => !file.includes(`${path.sep}node_modules${path.sep}`) && path.isAbsolute(file);
  const stopLending = lendToRequire(modules, (file) => [...places].some((place) => file.startsWith(place)));

  function forget(entry: string): void {
    for (const file of loaded.get(entry) ?? []) delete cache[file];
    loaded.delete(entry);
  }

  async function evaluate(entry: string): Promise<unknown> {
    const jiti = createJiti(folder + path.sep, {
      virtualModules: modules, fsCache: false, moduleCache: true, sourceMaps: true, interopDefault: true,
    });
    try {
      const loose: unknown = jiti(entry);
      // the module's own exports: what jiti returns mixes those of the default export in
      return cache[entry]?.exports ?? loose;
    } catch (error) {
      if (!awaitsAtTop(error)) throw error;
      return jiti.evalModule(readFileSync(entry, 'utf8'), { filename: entry, async: true, forceTranspile: true } as never);
    }
  }

  return {
    forget,
    async load(entry): Promise<LoadedModule> {
      places.add(path.dirname(entry) + path.sep);
      // fresh copies also of files that another plugin uses: each plugin reloads on its own
      for (const files of loaded.values()) for (const file of files) delete cache[file];
      loaded.delete(entry);
      delete cache[entry];
      const before = new Set(Object.keys(cache));
      const sources = () => [...new Set([entry, ...Object.keys(cache).filter((file) => !before.has(file) && own(file) && isSource(file, modules))])];
      try {
        const exports = await evaluate(entry);
        const files = sources();
        loaded.set(entry, files);
        return { exports, files };
      } catch (error) {
        const files = sources();
        for (const file of files) delete cache[file];
        throw Object.assign(error instanceof Error ? error : new Error(String(error)), { files });
      }
    },
    dispose: stopLending,
  };
};

function awaitsAtTop(error: unknown): boolean {
  return error instanceof Error && error.name === 'SyntaxError' && /\bawait\b/.test(error.message);
}

function isSource(file: string, modules: Readonly<Record<string, unknown>>): boolean {
  return !Object.hasOwn(modules, file) && /\.[cm]?[jt]sx?$|\.json$/.test(file);
}
