import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { BadRow } from './row.ts';

/** Patch files in the order they apply in, and what of them can't be used. */
export interface PatchLayers {
  /** Absolute paths of files that exist. */
  readonly files: readonly string[];
  /** Files whose coming, going or changing changes the layers: the manifests, and patch files that may still come. */
  readonly watched: readonly string[];
  readonly bad: readonly BadRow[];
}

export interface LayerOptions {
  /** Absolute path of the plugin file; the folder it is in is the profile. */
  readonly pluginFile: string;
  /** Absolute; what `$DSH_HOME` names. */
  readonly home: string;
  /** Patch files that were asked for by name, applied last; one that does not exist is told. Absolute, or relative to the profile. */
  readonly named?: readonly string[];
}

const PATCH = 'cordis.patch.yml';

/**
 * The layers over a plugin file (X13.6): the patches of the profile's bundles in the order that its package.json lists
 * them (`dsh.profile.bundles`; a bundle's own package.json names its patch in `dsh.bundle.patch`), the profile's
 * cordis.patch.yml, the one of the home folder, then the files asked for by name. Never throws.
 */
export function patchLayers({ pluginFile, home, named = [] }: LayerOptions): PatchLayers {
  const profile = path.dirname(pluginFile);
  const bundled = bundlePatches(profile);
  const optional = [path.join(profile, PATCH), path.join(home, PATCH)];
  const wanted = named.map((file) => path.resolve(profile, file));
  const missing = wanted.filter((file) => !existsSync(file));
  return {
    // one file in two places (a profile that is the home folder) is one layer
    files: [...new Set([...bundled.files, ...optional, ...wanted].filter((file) => existsSync(file)))],
    watched: [...bundled.watched, ...bundled.files, ...optional, ...wanted],
    bad: [...bundled.bad, ...missing.map((file) => ({ message: `the patch file "${file}" does not exist`, place: { file: pluginFile, line: 1 } }))],
  };
}

function bundlePatches(profile: string): PatchLayers {
  const files: string[] = [];
  const bad: BadRow[] = [];
  const manifest = path.join(profile, 'package.json');
  const watched = [manifest];
  let text = '';
  const complain = (message: string, near: string): void => {
    const at = text.indexOf(JSON.stringify(near));
    bad.push({ message, place: { file: manifest, line: at < 0 ? 1 : text.slice(0, at).split('\n').length } });
  };
  let bundles: unknown;
  try {
    if (!existsSync(manifest)) return { files, watched, bad };
    text = readFileSync(manifest, 'utf8');
    bundles = member(JSON.parse(text), 'dsh', 'profile', 'bundles');
  } catch (error) {
    // a project's own broken manifest is not ours to tell, unless it lists bundles
    if (text.includes('"bundles"')) complain(`package.json can't be read: ${error instanceof Error ? error.message : String(error)}`, 'bundles');
  }
  if (bundles === undefined) return { files, watched, bad };
  if (!Array.isArray(bundles) || !bundles.every((name): name is string => typeof name === 'string' && name !== '')) {
    complain('"dsh.profile.bundles" must be a list of package names', 'bundles');
    return { files, watched, bad };
  }
  for (const name of bundles) {
    const folder = packageFolder(profile, name);
    if (folder === undefined) {
      complain(`the bundle "${name}" is not installed beside "${manifest}": run npm install ${name} there`, name);
      continue;
    }
    watched.push(path.join(folder, 'package.json'));
    try {
      for (const file of patchesOf(folder)) {
        if (existsSync(file)) files.push(file);
        else complain(`the bundle "${name}" names a patch that does not exist: "${file}"`, name);
      }
    } catch (error) {
      complain(`the bundle "${name}" can't be used: ${error instanceof Error ? error.message : String(error)}`, name);
    }
  }
  return { files, watched, bad };
}

/** The folder of an installed package, whatever it exports; or of a bundle named by a path. */
function packageFolder(profile: string, name: string): string | undefined {
  const isPackage = (folder: string): boolean => existsSync(path.join(folder, 'package.json'));
  if (name.startsWith('.') || path.isAbsolute(name)) {
    const folder = path.resolve(profile, name);
    return isPackage(folder) ? folder : undefined;
  }
  const roots = createRequire(path.join(profile, 'x.js')).resolve.paths(name) ?? [];
  return roots.map((root) => path.join(root, name)).find(isPackage);
}

function patchesOf(folder: string): string[] {
  const patch = member(JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')), 'dsh', 'bundle', 'patch');
  const list = typeof patch === 'string' ? [patch] : patch;
  if (!Array.isArray(list) || list.length === 0 || !list.every((file): file is string => typeof file === 'string' && file !== '')) {
    throw new Error('its package.json needs "dsh.bundle.patch", the path of a patch file');
  }
  return list.map((file) => path.resolve(folder, file));
}

function member(value: unknown, ...keys: string[]): unknown {
  return keys.reduce<unknown>((at, key) => (typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? (at as Record<string, unknown>)[key] : undefined), value);
}
