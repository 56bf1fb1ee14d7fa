// npm run l10n [-- --check]: collects the texts of the code into l10n/bundle.l10n.json and says what each language lacks.
//   --check  writes nothing; fails when the bundle is out of date, or a language has gaps, strays or other placeholders
// Texts are the first argument of l10n.t(…) in src/ and of t(…) in webview/: a string, or { message, comment }. In src/ a
// plain t(…) counts where the file takes it out of the API: `const { t } = vscode.l10n`.
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import ts from 'typescript';
import { ROOT } from './dependencies.mjs';

const BUNDLE = path.join(ROOT, 'l10n/bundle.l10n.json');
const problems = [];

function sources(dir) {
  const all = fs.existsSync(dir) ? fs.readdirSync(dir, { recursive: true, encoding: 'utf8' }) : [];
  return all.filter((name) => /\.tsx?$/.test(name)).map((name) => path.join(dir, name)).sort();
}

/** @returns {boolean} whether a call asks for a text; `plain`: a call of `t` itself does, too */
function asks(callee, plain) {
  if (ts.isPropertyAccessExpression(callee) && callee.name.text === 't') return /(^|\.)l10n$/.test(callee.expression.getText());
  return plain && ts.isIdentifier(callee) && callee.text === 't';
}

function literal(node) {
  return node && (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) ? node.text : undefined;
}

/**
 * The key VS Code looks a text up by, and the text; undefined when they can't be known before the code runs.
 * @returns {[key: string, text: string] | undefined}
 */
function textOf(argument) {
  if (argument === undefined) return undefined;
  const text = literal(argument);
  if (text !== undefined) return [text, text];
  if (!ts.isObjectLiteralExpression(argument)) return undefined;
  const property = (name) => argument.properties.find((p) => ts.isPropertyAssignment(p) && p.name.getText() === name)?.initializer;
  const message = literal(property('message'));
  const comment = property('comment');
  if (message === undefined) return undefined;
  if (comment === undefined) return [message, message];
  const parts = ts.isArrayLiteralExpression(comment) ? comment.elements.map(literal) : [literal(comment)];
  return parts.includes(undefined) ? undefined : [`${message}/${parts.join('')}`, message];
}

function collect() {
  const found = new Map();
  for (const [dir, webview] of /** @type {const} */ ([['src', false], ['webview', true]])) {
    for (const file of sources(path.join(ROOT, dir))) {
      const source = ts.createSourceFile(file, fs.readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
      const plain = webview || /\{\s*t\s*\}\s*=\s*vscode\.l10n\b/.test(source.text);
      const visit = (node) => {
        if (ts.isCallExpression(node) && asks(node.expression, plain)) {
          const text = textOf(node.arguments[0]);
          if (text === undefined) {
            const { line } = source.getLineAndCharacterOfPosition(node.getStart());
            problems.push(`${path.relative(ROOT, file)}:${line + 1}: write the text itself, so that it can be collected`);
          } else {
            found.set(...text);
          }
        }
        ts.forEachChild(node, visit);
      };
      visit(source);
    }
  }
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const placeholders = (text) => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort().join(' ');

/** Compares a translation with what there is to translate. */
function compare(name, wanted, has) {
  for (const [key, text] of Object.entries(wanted)) {
    if (typeof has[key] !== 'string' || has[key].trim() === '') problems.push(`${name} lacks ${JSON.stringify(key)}`);
    else if (placeholders(has[key]) !== placeholders(text)) problems.push(`${name}: other placeholders in ${JSON.stringify(key)}`);
  }
  for (const key of Object.keys(has)) if (!(key in wanted)) problems.push(`${name} has ${JSON.stringify(key)}, which nothing asks for`);
}

function read(file) {
  return JSON.parse(fs.readFileSync(file, 'utf8'));
}

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const wanted = collect();
const text = `${JSON.stringify(wanted, null, 2)}\n`;
if (!values.check) {
  fs.mkdirSync(path.dirname(BUNDLE), { recursive: true });
  fs.writeFileSync(BUNDLE, text);
} else if (!fs.existsSync(BUNDLE) || fs.readFileSync(BUNDLE, 'utf8') !== text) {
  problems.push('l10n/bundle.l10n.json is out of date: run npm run l10n');
}
for (const name of fs.existsSync(path.dirname(BUNDLE)) ? fs.readdirSync(path.dirname(BUNDLE)) : []) {
  if (/^bundle\.l10n\..+\.json$/.test(name)) compare(`l10n/${name}`, wanted, read(path.join(path.dirname(BUNDLE), name)));
}

const manifestTexts = path.join(ROOT, 'package.nls.json');
const manifest = fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8');
const asked = new Set([...manifest.matchAll(/"%([\w.-]+)%"/g)].map((match) => match[1]));
const given = fs.existsSync(manifestTexts) ? read(manifestTexts) : {};
for (const key of asked) if (!(key in given)) problems.push(`package.nls.json lacks ${key}`);
for (const key of Object.keys(given)) if (!asked.has(key)) problems.push(`package.nls.json has ${key}, which package.json doesn't name`);
const plain = Object.fromEntries(Object.entries(given).map(([key, value]) => [key, typeof value === 'string' ? value : value.message]));
for (const name of fs.readdirSync(ROOT)) if (/^package\.nls\..+\.json$/.test(name)) compare(name, plain, read(path.join(ROOT, name)));

for (const problem of problems) console.error(problem);
console.log(`${Object.keys(wanted).length} texts in the code, ${asked.size} in the manifest, ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;
