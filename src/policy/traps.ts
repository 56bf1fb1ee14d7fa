import { lstat, stat } from 'node:fs/promises';
import type { AskReason } from '../contract/ask-reason.ts';
import type { SimpleCommand } from './command.ts';
import { isPlantedRepository, trackedKeyFile } from './git-repository.ts';
import type { PathFacts } from './paths.ts';

/** A path that a command names, as it names it. */
export interface TouchedPath { readonly given: string; readonly facts: PathFacts }

/** A file that may hold keys among those that a search of these places reads; `places` are as a program started in `cwd` gets them. Undefined: it can't be told. */
export type KeysIn = (places: readonly string[], cwd: string) => Promise<readonly string[] | undefined>;

export interface TrapOptions {
  readonly commands: readonly SimpleCommand[];
  /** Real path of the folder they run in. */
  readonly cwd: string;
  readonly touched: readonly TouchedPath[];
  readonly keysIn?: KeysIn;
}

const UNTOLD: AskReason = { code: 'command-uncertain', doubt: { code: 'not-analysed' } };

/** Why a command of harmless programs may still show, or run, what nobody named (L1, J3). */
export async function trapIn(options: TrapOptions): Promise<AskReason | undefined> {
  const { commands, cwd } = options;
  if (commands.some(({ words }) => words[0] === 'git') && await isPlantedRepository(cwd)) return { code: 'command-planted-repository', folder: cwd };
  for (const command of commands) {
    const found = await trapOf(command, options);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function trapOf({ words: [program, ...args], piped }: SimpleCommand, options: TrapOptions): Promise<AskReason | undefined> {
  switch (program) {
    case 'diff': return comparedFolder(args, 1, options);
    case 'git': return gitTrap(args[0] === '--no-pager' ? args.slice(1) : args, options);
    case 'rg': return searchTrap(args, piped, options);
    default: return undefined;
  }
}

/** `least`: with fewer of them there, nothing is compared. */
async function comparedFolder(operands: readonly string[], least: number, options: TrapOptions): Promise<AskReason | undefined> {
  const there = (await Promise.all(operands.map(async (given) => ({ given, kind: await kindOf(given, options) })))).filter(({ kind }) => kind !== undefined);
  const folder = there.length < least ? undefined : there.find(({ kind }) => kind === 'folder');
  return folder && { code: 'command-compares-folder', given: folder.given };
}

async function kindOf(given: string, { touched }: TrapOptions): Promise<'folder' | 'other' | undefined> {
  const places = touched.find((entry) => entry.given === given)?.facts.places ?? [];
  let kind: 'other' | undefined;
  for (const place of places) {
    if (await stat(place).then((found) => found.isDirectory(), () => false)) return 'folder';
    if (await lstat(place).then(() => true, () => false)) kind = 'other';
  }
  return kind;
}

const SUMMARY = /^(?:-s|--(?:stat|name-only|name-status|numstat|shortstat|summary|no-patch))$/;
const PATCH = /^(?:-[puL].*|-[US].*|--(?:patch|word-diff))$/;

/** Git shows what changed in every file it keeps. */
async function gitTrap([subcommand, ...args]: readonly string[], options: TrapOptions): Promise<AskReason | undefined> {
  const shows = subcommand === 'diff' || subcommand === 'show';
  const end = args.indexOf('--');
  const operands = (end < 0 ? args : args.slice(0, end)).filter((arg) => !arg.startsWith('-'));
  const behind = end < 0 ? [] : args.slice(end + 1);
  // of two paths, and no repository around (or one it does not trust), it makes a comparison as diff does
  const compared = subcommand === 'diff' ? await comparedFolder([...operands, ...behind], 2, options) : undefined;
  if (compared !== undefined) return compared;
  if (!args.some((arg) => PATCH.test(arg)) && (!shows || args.some((arg) => SUMMARY.test(arg)))) return undefined;
  // one file of one revision, or the names in a folder of it
  if (subcommand === 'show' && operands.length > 0 && operands.every((operand) => operand.indexOf(':') > 0)) return undefined;
  const named = [...behind];
  for (const operand of operands) if (await kindOf(operand, options) !== undefined) named.push(operand);
  const exact = named.every((name) => !/^:|[*?[\\]/.test(name));
  const places = exact ? options.touched.filter(({ given }) => named.includes(given)).flatMap(({ facts }) => facts.places) : [];
  const found = await trackedKeyFile(options.cwd, places);
  if (found === undefined) return undefined;
  return found.name === undefined ? UNTOLD : { code: 'command-tracked-keys', given: found.name };
}

/** ripgrep goes through folders by itself, hidden files too where an ignore file says so. */
async function searchTrap(args: readonly string[], piped: boolean, { cwd, keysIn }: TrapOptions): Promise<AskReason | undefined> {
  if (args.includes('--files')) return undefined;
  const places = searchedPlaces(args);
  const folders = places.filter((place) => place !== '-');
  // nothing but what it is sent
  if (folders.length === 0 && (piped || places.length > 0)) return undefined;
  const found = await keysIn?.(folders, cwd);
  if (found === undefined) return UNTOLD;
  return found[0] === undefined ? undefined : { code: 'command-searches-keys', given: found[0] };
}

/** The operands of ripgrep behind its pattern; for the options that it may have when it is harmless. */
function searchedPlaces(args: readonly string[]): string[] {
  const operands: string[] = [];
  let hasPattern = false;
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!;
    if (!/^-[^-]/.test(arg)) {
      if (!arg.startsWith('--')) operands.push(arg);
      continue;
    }
    // the first letter that takes a value takes what is left of the word, or the next one
    const at = arg.search(/[ABCmtTe]/);
    if (arg[at] === 'e') hasPattern = true;
    if (at === arg.length - 1) i++;
  }
  return hasPattern ? operands : operands.slice(1);
}
