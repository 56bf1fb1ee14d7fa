// node esbuild.mjs [--production] [--watch] [--tests] [--metafile] [--stage DIR]
//   dist/      the extension: host bundle, lazy bundles, workers, webviews (lists: scripts/entries.mjs)
//   out/test/  with --tests: the mocha files that run inside VS Code's extension host
// --stage DIR writes to DIR/dist and DIR/test instead, so that a run is not disturbed by the next build.
// --production minifies and leaves out source maps. --metafile writes out/meta.json for a bundle analyser.
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import * as esbuild from 'esbuild';
import { COPIES, HOST, LAZY, LENT, MAIN, MAY_REPEAT, WEBVIEWS, WORKERS } from './scripts/entries.mjs';
import { notices } from './scripts/notices.mjs';

const root = import.meta.dirname;
process.chdir(root);
const { values: options } = parseArgs({
  options: {
    production: { type: 'boolean', default: false },
    watch: { type: 'boolean', default: false },
    tests: { type: 'boolean', default: false },
    metafile: { type: 'boolean', default: false },
    stage: { type: 'string' },
  },
});
const DIST = options.stage === undefined ? 'dist' : path.join(options.stage, 'dist');
const TESTS = options.stage === undefined ? 'out/test' : path.join(options.stage, 'test');

const LENT_KEY = 'dsh-host.lent-modules';

/** The main bundle puts its instances of the lent modules where lazy bundles find them. */
const lend = {
  name: 'lend',
  setup(build) {
    build.onResolve({ filter: /^dsh:lend$/ }, () => ({ path: 'lend', namespace: 'dsh' }));
    build.onLoad({ filter: /^lend$/, namespace: 'dsh' }, () => ({
      resolveDir: root,
      contents:
        LENT.map((name, i) => `import * as m${i} from ${JSON.stringify(name)};`).join('\n') +
        `\nglobalThis[Symbol.for(${JSON.stringify(LENT_KEY)})] = { ${LENT.map((n, i) => `${JSON.stringify(n)}: m${i}`).join(', ')} };`,
    }));
  },
};

/** In a lazy bundle, a lent module is the host's instance. */
const borrow = {
  name: 'borrow',
  setup(build) {
    const names = new Set(LENT);
    build.onResolve({ filter: /^@deepseek-ai\// }, (args) => {
      if (names.has(args.path)) return { path: args.path, namespace: 'dsh-lent' };
      return { errors: [{ text: `${args.path} is not lent to lazy bundles: add it to LENT in scripts/entries.mjs` }] };
    });
    build.onLoad({ filter: /.*/, namespace: 'dsh-lent' }, (args) => ({
      contents: `module.exports = globalThis[Symbol.for(${JSON.stringify(LENT_KEY)})][${JSON.stringify(args.path)}];`,
      loader: 'js',
    }));
  },
};

/** `import('…/loader-entry.ts')` becomes `import('./plugins.cjs')`: the entry is a bundle of its own. */
const splitLazy = {
  name: 'split-lazy',
  setup(build) {
    const outputs = new Map(Object.entries({ ...MAIN, ...LAZY }).map(([name, file]) => [path.resolve(root, file), `./${name}.cjs`]));
    build.onResolve({ filter: /^\.{1,2}\// }, (args) => {
      const output = outputs.get(path.resolve(args.resolveDir, args.path));
      if (output === undefined || args.kind === 'entry-point') return undefined;
      if (args.kind === 'dynamic-import') return { path: output, external: true };
      return { errors: [{ text: `${args.path} is a lazy bundle: import it with await import(…), or its types with import type` }] };
    });
  },
};

const common = {
  bundle: true,
  logLevel: 'warning',
  minify: options.production,
  sourcemap: options.production ? false : 'linked',
  metafile: true,
  legalComments: 'none',
  define: { 'process.env.NODE_ENV': options.production ? '"production"' : '"development"' },
};

const node = {
  ...common,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  // packages that ask where they are (import.meta.url) get the bundle's own place
  banner: { js: `const __bundle_url = require('node:url').pathToFileURL(__filename).href;` },
  define: { ...common.define, 'import.meta.url': '__bundle_url', 'import.meta.dirname': '__dirname', 'import.meta.filename': '__filename' },
  mainFields: ['module', 'main'],
};

function present(entries) {
  return Object.fromEntries(
    Object.entries(entries).filter(([, file]) => {
      if (fs.existsSync(path.join(root, file))) return true;
      console.warn(`skipped: ${file} is not there yet`);
      return false;
    }),
  );
}

function testFiles(dir) {
  if (!fs.existsSync(dir)) return [];
  return fs
    .readdirSync(dir, { recursive: true })
    .map((name) => path.join(dir, name))
    .filter((name) => name.endsWith('.test.ts'));
}

const host = present({ extension: HOST });
const builds = {
  host: Object.keys(host).length > 0 && {
    ...node,
    entryPoints: host,
    outdir: DIST,
    external: ['vscode'],
    plugins: [splitLazy],
  },
  main: { ...node, entryPoints: present(MAIN), outdir: DIST, external: ['vscode'], inject: ['dsh:lend'], plugins: [lend, splitLazy] },
  lazy: { ...node, entryPoints: present(LAZY), outdir: DIST, external: ['vscode'], plugins: [borrow, splitLazy] },
  workers: { ...node, entryPoints: present(WORKERS), outdir: DIST },
  webviews: {
    ...common,
    entryPoints: present(WEBVIEWS),
    outdir: path.join(DIST, 'webview'),
    platform: 'browser',
    target: 'chrome128',
    format: 'iife',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.ttf': 'file', '.svg': 'dataurl' },
    conditions: ['browser'],
  },
  tests: options.tests && {
    ...node,
    minify: false,
    sourcemap: 'inline',
    entryPoints: ['test/harness/mocha-index.ts', ...testFiles('test/host')],
    outbase: 'test',
    outdir: TESTS,
    // the extension under test is reached through vscode.extensions, so nothing here needs its instances
    external: ['vscode', 'mocha', 'playwright-core'],
  },
};
const plans = Object.entries(builds).filter(([, plan]) => plan && Object.keys(plan.entryPoints).length > 0);

/** A file of src/ in two bundles would exist twice in one process. */
function refuseCopies(results) {
  const owner = new Map();
  for (const result of [results.host, results.main, results.lazy]) {
    for (const [bundle, output] of Object.entries(result?.metafile?.outputs ?? {})) {
      for (const [file, { bytesInOutput }] of Object.entries(output.inputs)) {
        if (bytesInOutput === 0 || !file.startsWith('src/') || MAY_REPEAT.includes(file)) continue;
        const other = owner.get(file);
        if (other !== undefined && other !== bundle) {
          throw new Error(`${file} is in ${other} and in ${bundle}. Import it as a type, hand it in as an argument, or list it in MAY_REPEAT (scripts/entries.mjs).`);
        }
        owner.set(file, bundle);
      }
    }
  }
}

function copy() {
  for (const [from, name] of COPIES) {
    const to = path.join(DIST, name);
    fs.mkdirSync(path.dirname(to), { recursive: true });
    fs.copyFileSync(from, to);
  }
}

function report(results, started) {
  for (const [name, result] of Object.entries(results)) {
    for (const [file, { bytes }] of Object.entries(result.metafile.outputs)) {
      if (name !== 'tests' && !file.endsWith('.map')) console.log(`${String(Math.ceil(bytes / 1024)).padStart(6)} KB  ${file}`);
    }
  }
  console.log(`built in ${Date.now() - started} ms`);
}

if (options.watch) {
  copy();
  const contexts = await Promise.all(plans.map(([, plan]) => esbuild.context({ ...plan, logLevel: 'info' })));
  await Promise.all(contexts.map((context) => context.watch()));
  console.log('watching; Ctrl+C to stop');
} else {
  const started = Date.now();
  try {
    const done = await Promise.all(plans.map(async ([name, plan]) => [name, await esbuild.build(plan)]));
    const results = Object.fromEntries(done);
    refuseCopies(results);
    copy();
    if (options.production) {
      const shipped = Object.entries(results).filter(([name]) => name !== 'tests').map(([, { metafile }]) => metafile);
      fs.writeFileSync(path.join(DIST, 'THIRD-PARTY-NOTICES.txt'), notices(root, shipped, COPIES.map(([from]) => from)));
    }
    if (options.metafile) {
      fs.mkdirSync('out', { recursive: true });
      const merged = { inputs: {}, outputs: {} };
      for (const { metafile } of Object.values(results)) {
        Object.assign(merged.inputs, metafile.inputs);
        Object.assign(merged.outputs, metafile.outputs);
      }
      fs.writeFileSync('out/meta.json', JSON.stringify(merged));
    }
    report(results, started);
  } catch (error) {
    // esbuild has already printed its own errors, with file and line
    if (!Array.isArray(error?.errors)) console.error(`build failed: ${error.message}`);
    process.exitCode = 1;
  }
}
