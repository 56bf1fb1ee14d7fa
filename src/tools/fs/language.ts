const LANGUAGES: Record<string, string> = {
  ts: 'ts', mts: 'ts', cts: 'ts', tsx: 'tsx', js: 'js', mjs: 'js', cjs: 'js', jsx: 'jsx', json: 'json', jsonc: 'json', ipynb: 'json',
  py: 'py', pyi: 'py', rb: 'rb', go: 'go', rs: 'rs', java: 'java', c: 'c', h: 'c', cc: 'cpp', cpp: 'cpp', cxx: 'cpp', hpp: 'cpp', hh: 'cpp',
  cs: 'cs', kt: 'kotlin', kts: 'kotlin', kotlin: 'kotlin', swift: 'swift', php: 'php', sh: 'sh', bash: 'sh', zsh: 'sh', yaml: 'yaml', yml: 'yaml',
  toml: 'toml', ini: 'ini', cfg: 'ini', md: 'md', markdown: 'md', mdx: 'mdx', html: 'html', htm: 'html', css: 'css', scss: 'scss', less: 'less',
  sql: 'sql', xml: 'xml', svg: 'xml', lua: 'lua',
};

/** Highlighting language of a path by its extension (B10.5). A dotfile such as `.ts` has none. */
export function languageOf(path: string): string | undefined {
  const name = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
  const dot = name.lastIndexOf('.');
  if (dot <= 0) return undefined;
  const extension = name.slice(dot + 1).toLowerCase();
  return Object.hasOwn(LANGUAGES, extension) ? LANGUAGES[extension] : undefined;
}
