import Module from 'node:module';

type Load = (request: string, parent: { readonly filename?: string | null } | null | undefined, isMain: boolean) => unknown;
const loading = Module as unknown as { _load: Load };

/**
 * Lends modules to CommonJS files that node runs by itself, for which the TypeScript loader is never asked (X13.8):
 * `require` of a lent name gives the host's instance when the asking file is one of `ours`, and nothing changes for anybody
 * else in the process. The returned function ends it.
 */
export function lendToRequire(modules: Readonly<Record<string, unknown>>, ours: (file: string) => boolean): () => void {
  let active = true;
  const before = loading._load;
  const load: Load = function (this: unknown, request, parent, isMain) {
    const file = parent?.filename;
    if (active && typeof file === 'string' && Object.hasOwn(modules, request) && ours(file)) return modules[request];
    return before.call(this, request, parent, isMain);
  };
  loading._load = load;
  return () => {
    active = false;
    // who wrapped it after us keeps it as a pass-through
    if (loading._load === load) loading._load = before;
  };
}
