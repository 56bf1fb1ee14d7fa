// node scripts/contract-coverage.mjs [--check]
// Writes docs/contract-coverage.md and docs/cases-coverage.md: which tests stand for which clause of the tool contract, and
// for which case, read from the tests' titles.
// --check writes nothing and fails when a clause or case has no test or a page is out of date.
// --results REPORT.json ... prints case, test and result instead, from reports of `npm test -- --report REPORT.json`.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';

const ROOT = path.resolve(import.meta.dirname, '..');
const PAGES = [
  { list: 'test/contract-clauses.json', page: 'docs/contract-coverage.md', what: 'clauses', title: 'Contract coverage', about: 'Which tests stand for which clause.' },
  { list: 'test/cases.json', page: 'docs/cases-coverage.md', what: 'cases', title: 'Case coverage', about: 'Which tests stand for which case: an input on which programs of this kind have failed their users.' },
];
const ID = /\b[A-Z]\d+\.\d+\b|\b[A-O]\d{1,2}\b(?!\.\d)/g;
const RANGE = /\b([A-Z]\d+)\.(\d+)[-–]\1\.(\d+)\b/g;

/** Text of a title; what a template fills in is shown as `…`. */
function textOf(node) {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node)) return node.head.text + node.templateSpans.map((span) => `…${span.literal.text}`).join('');
  return undefined;
}

/** Full titles of the tests in one file. Skipped tests stand for nothing. */
export function titlesOf(source, name = 'test.ts') {
  const titles = [];
  const walk = (node, above) => {
    let inside = above;
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.arguments.length > 1) {
      const title = textOf(node.arguments[0]);
      if (title !== undefined && node.expression.text === 'describe') inside = [...above, title];
      if (title !== undefined && node.expression.text === 'it') titles.push([...above, title].join(' › '));
    }
    ts.forEachChild(node, (child) => walk(child, inside));
  };
  walk(ts.createSourceFile(name, source, ts.ScriptTarget.Latest, true), []);
  return titles;
}

/** Type tests have no titles: a comment that begins with a clause id heads each group. */
export function typeTitlesOf(source) {
  return [...source.matchAll(/^ *\/\/ ([A-Z]\d+\.\d+.*)$/gm)].map(([, title]) => title);
}

/** Ids of clauses (`P4.1`) and cases (`A1`) that a title names, ranges such as `S1.18-S1.25` spelled out. */
export function clausesIn(title) {
  const ids = new Set(title.match(ID) ?? []);
  for (const [, letter, from, to] of title.matchAll(RANGE)) for (let n = Number(from); n <= Number(to); n++) ids.add(`${letter}.${n}`);
  return ids;
}

function testFiles(dir) {
  return fs.readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(dir, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : testFiles(file);
    return /\.(?:test|e2e)\.tsx?$/.test(entry.name) || path.basename(dir) === 'types' ? [file] : [];
  });
}

const inTable = (text) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');

/** The page, and the listed clauses (or cases) without any test. */
export function coverage(sections, files, { title: heading, about: intro } = PAGES[0]) {
  const tests = new Map();
  for (const { name, source } of files) {
    for (const title of name.startsWith('types/') ? typeTitlesOf(source) : titlesOf(source, name)) {
      for (const id of clausesIn(title)) {
        const byFile = tests.get(id) ?? tests.set(id, new Map()).get(id);
        byFile.set(name, [...(byFile.get(name) ?? []), title.split(' › ').at(-1)]);
      }
    }
  }
  const empty = [];
  const lines = [`# ${heading}`, '', `${intro} Written by \`node scripts/contract-coverage.mjs\` from the titles of the tests; do not edit.`];
  for (const { section, clauses } of sections) {
    lines.push('', `## ${section}`, '', '| id | about | tests |', '| --- | --- | --- |');
    for (const [id, about] of Object.entries(clauses)) {
      const byFile = [...(tests.get(id) ?? [])];
      if (byFile.length === 0) empty.push(id);
      const cell = byFile.map(([file, titles]) => `\`${file}\`: ${titles.map((title) => inTable(title)).join('; ')}`).join('<br>');
      lines.push(`| ${id} | ${inTable(about)} | ${cell || '**none**'} |`);
    }
  }
  return { page: `${lines.join('\n')}\n`, empty };
}

/** Case, test and result, from the tests of reports: what ran, as it went. Cases of which none ran are listed too. */
export function resultsPage(sections, tests) {
  const byId = new Map();
  for (const test of tests) for (const id of clausesIn(test.title)) byId.set(id, [...(byId.get(id) ?? []), test]);
  const lines = ['| case | test | result |', '| --- | --- | --- |'];
  for (const id of sections.flatMap(({ clauses }) => Object.keys(clauses))) {
    const ran = byId.get(id) ?? [];
    if (ran.length === 0) lines.push(`| ${id} | | not run |`);
    for (const { title, state, file } of ran) lines.push(`| ${id} | \`${path.basename(file)}\`: ${inTable(title)} | ${state} |`);
  }
  return `${lines.join('\n')}\n`;
}

function printResults(reports) {
  const tests = reports.flatMap((file) => JSON.parse(fs.readFileSync(file, 'utf8')).suites.flatMap((suite) => suite.tests));
  console.log(resultsPage(JSON.parse(fs.readFileSync(path.join(ROOT, PAGES[1].list), 'utf8')), tests));
}

function main() {
  const results = process.argv.indexOf('--results');
  if (results > 0) return printResults(process.argv.slice(results + 1));
  const check = process.argv.includes('--check');
  const files = testFiles(path.join(ROOT, 'test')).sort().map((file) => ({
    name: path.relative(path.join(ROOT, 'test'), file).replaceAll('\\', '/'), source: fs.readFileSync(file, 'utf8'),
  }));
  for (const entry of PAGES) {
    const sections = JSON.parse(fs.readFileSync(path.join(ROOT, entry.list), 'utf8'));
    const { page, empty } = coverage(sections, files, entry);
    const target = path.join(ROOT, entry.page);
    const stale = check && (!fs.existsSync(target) || fs.readFileSync(target, 'utf8') !== page);
    if (!check) fs.writeFileSync(target, page);
    const total = sections.reduce((sum, { clauses }) => sum + Object.keys(clauses).length, 0);
    console.log(`${total - empty.length} of ${total} ${entry.what} have tests${empty.length > 0 ? `; without: ${empty.join(', ')}` : ''}`);
    if (stale) console.error(`${entry.page} is out of date: run node scripts/contract-coverage.mjs`);
    if (empty.length > 0 || stale) process.exitCode = 1;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main();
