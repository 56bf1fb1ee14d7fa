import { existsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const EXTENSIONS = ['', '.ts', '.mts', '.cts', '.tsx', '.js', '.mjs', '.cjs'];

function isFile(file: string): boolean {
  return existsSync(file) && statSync(file).isFile();
}

function entryOfFolder(folder: string): string | undefined {
  const manifest = path.join(folder, 'package.json');
  if (isFile(manifest)) {
    try {
      return createRequire(path.join(folder, 'index.js')).resolve(folder);
    } catch {
      const entry = importEntry(folder);
      if (entry !== undefined && isFile(entry)) return entry;
      // a source folder whose "main" is not built yet still has an index or src/index
    }
  }
  for (const stem of ['index', path.join('src', 'index')]) {
    const found = EXTENSIONS.slice(1).map((ext) => path.join(folder, stem + ext)).find(isFile);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * The file a row's `name` means (X13.7): a `file:` URL, an absolute path, a path relative to the plugin file, or a
 * package that is installed where the plugin file is. Throws with what was looked for.
 */
export function resolvePlugin(name: string, pluginFile: string): string {
  const folder = path.dirname(pluginFile);
  if (name.startsWith('file:') || name.startsWith('.') || path.isAbsolute(name)) {
    const wanted = name.startsWith('file:') ? fileURLToPath(name) : path.resolve(folder, name);
    const found = EXTENSIONS.map((ext) => wanted + ext).find(isFile) ?? (existsSync(wanted) ? entryOfFolder(wanted) : undefined);
    if (found !== undefined) return found;
    throw new Error(existsSync(wanted)
      ? `"${wanted}" has no plugin: expected an index.ts, an index.js or a package.json with "main" or "exports"`
      : `"${wanted}" does not exist`);
  }
  const require = createRequire(pluginFile);
  try {
    return require.resolve(name);
  } catch (error) {
    // packages with "exports" for import only
    const found = (require.resolve.paths(name) ?? []).map((dir) => importEntry(path.join(dir, name))).find((entry) => entry !== undefined);
    if (found !== undefined) return found;
    throw new Error(`package "${name}" is not installed beside "${pluginFile}": run npm install ${name} there, or give a path that starts with "./"`, { cause: error });
  }
}

function importEntry(folder: string): string | undefined {
  const manifest = path.join(folder, 'package.json');
  if (!isFile(manifest)) return undefined;
  const { exports, main } = createRequire(manifest)(manifest) as { exports?: unknown; main?: string };
  const target = pick((exports as Record<string, unknown> | undefined)?.['.'] ?? exports) ?? main;
  return target === undefined ? undefined : path.join(folder, target);
}

function pick(target: unknown): string | undefined {
  if (typeof target === 'string') return target;
  if (typeof target !== 'object' || target === null) return undefined;
  const conditions = target as Record<string, unknown>;
  for (const name of ['import', 'node', 'default', 'require']) {
    const found = pick(conditions[name]);
    if (found !== undefined) return found;
  }
  return undefined;
}
