import { createRequire } from 'node:module';
import path from 'node:path';
import { createJiti } from 'jiti/static';
import type { CreatePluginLoader, LoadedModule } from './loader.ts';

/**
 * The lazy bundle with the TypeScript compiler in it: loaded when the first plugin is, never at activation. It gets the
 * lent modules as an argument, so it holds no second copy of anything.
 */
export const createPluginLoader: CreatePluginLoader = ({ modules, folder }) => {
  const cache = createRequire(path.join(folder, 'x.js')).cache;
  const loaded = new Map<string, readonly string[]>();
  const own = (file: string) => !file.includes(`${path.sep}node_modules${path.sep}`) && path.isAbsolute(file);

  function forget(entry: string): void {
    for (const file of loaded.get(entry) ?? []) delete cache[file];
    loaded.delete(entry);
  }

  return {
    forget,
    async load(entry): Promise<LoadedModule> {
      // fresh copies also of files that another plugin uses: each plugin reloads on its own
      for (const files of loaded.values()) for (const file of files) delete cache[file];
      loaded.delete(entry);
      delete cache[entry];
      const before = new Set(Object.keys(cache));
      const jiti = createJiti(folder + path.sep, {
        virtualModules: modules, fsCache: false, moduleCache: true, sourceMaps: true, interopDefault: false,
      });
      const sources = () => [...new Set([entry, ...Object.keys(cache).filter((file) => !before.has(file) && own(file) && isSource(file, modules))])];
      try {
        const exports = await jiti.import(entry);
        const files = sources();
        loaded.set(entry, files);
        return { exports, files };
      } catch (error) {
        const files = sources();
        for (const file of files) delete cache[file];
        throw Object.assign(error instanceof Error ? error : new Error(String(error)), { files });
      }
    },
  };
};

function isSource(file: string, modules: Readonly<Record<string, unknown>>): boolean {
  return !Object.hasOwn(modules, file) && /\.[cm]?[jt]sx?$|\.json$/.test(file);
}
