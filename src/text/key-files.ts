import picomatch from 'picomatch';

/**
 * Files that hold keys (L1), by name: policy asks before they are read, and a search leaves them out. `*` is any run of
 * characters; with a slash it is the end of a path; a slash at the end is a folder with all that is in it. In lower case: compared
 * without regard to case.
 */
const KEY_FILES = [
  '.env', '.env.*', '.env-*', '.env_*', '*.env', '.envrc', '.dev.vars', '.dev.vars.*',
  'id_rsa', 'id_dsa', 'id_ecdsa', 'id_ed25519', 'id_ecdsa_sk', 'id_ed25519_sk',
  '*.pem', '*.key', '*.p12', '*.pfx', '*.ppk', '*.keystore', '*.jks', '*.keytab', '*.kdbx',
  '.netrc', '_netrc', '.pgpass', '.npmrc', '.pypirc', '.git-credentials', '.htpasswd', '.dockercfg', '.vault-token',
  '*.tfstate', '*.tfstate.backup',
  '.docker/config.json', '.config/gh/hosts.yml', '.aws/', '.azure/', '.kube/', '.gnupg/', '.config/gcloud/',
] as const;

/** Made to be shared: they show which keys there are, without the keys. */
const TEMPLATE = /^\.(?:env|dev\.vars).*\.(?:example|sample|template|dist)$/;

const names = KEY_FILES.filter((name) => !name.includes('/'));
const EXACT: ReadonlySet<string> = new Set(names.filter((name) => !name.includes('*')));
const ENDINGS: ReadonlySet<string> = new Set(names.filter((name) => name.startsWith('*')).map((name) => name.slice(1)));
const BEGINNINGS = names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));
const PLACES = new RegExp(`(?:^|/)(?:${KEY_FILES.filter((name) => name.includes('/')).map((name) => (
  name.replaceAll('.', '\\.').replace(/\/$/, '(?:/.*)?')
)).join('|')})$`);

/** Whether a file of this path is one that holds keys, or a folder of those. Either slash separates. */
export function isKeyFile(file: string): boolean {
  const path = file.toLowerCase().replaceAll('\\', '/');
  return isKeyName(path.slice(path.lastIndexOf('/') + 1)) || (/(?:^|\/)\./.test(path) && PLACES.test(path));
}

// a search asks this of every file there is
function isKeyName(name: string): boolean {
  if (EXACT.has(name)) return true;
  for (let at = name.indexOf('.'); at >= 0; at = name.indexOf('.', at + 1)) if (ENDINGS.has(name.slice(at))) return true;
  return BEGINNINGS.some((start) => name.startsWith(start)) && !TEMPLATE.test(name);
}

/** Names as globs, for a search that takes note of letters. A file may be one by the folder it is in, which these do not tell. */
export const KEY_NAME_GLOBS: readonly string[] = names.map((name) => name.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`));

/** What a pattern for names is tried on, to tell whether it means such files. */
const SAMPLES = names.flatMap((name) => (
  /^\.(?:env|dev\.vars)[.\-_]/.test(name)
    ? ['local', 'production', 'prod', 'development', 'dev', 'staging', 'stage', 'test', 'ci', 'production.local'].map((kind) => name.replace('*', kind))
    : [name.replace('*', name === '*.env' ? 'prod' : 'key')]
));

/**
 * Whether a glob asks for files that hold keys, also among others (`*`, `.env*`). The tool that searches with it and the policy that
 * asks before both ask here: what is not meant is left out.
 */
export function meansKeyFiles(glob: string): boolean {
  try {
    // a name written out in the pattern, also as one of several alternatives
    if (glob.split(/[{},/]/).some((part) => isKeyFile(part.replace(/[*?]+$/, '')))) return true;
    return SAMPLES.some((name) => picomatch.isMatch(name, glob, { dot: true, basename: true, nocase: true }));
  } catch {
    return true;
  }
}
