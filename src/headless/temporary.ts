import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

/** Siblings that become files by a rename: `.name.dsh-<where>-<process>-<random>.tmp`, so that a later process can tell whether their writer is gone. */

const TEMPORARY = /^\..*\.dsh-([0-9a-f]{8})-([0-9a-z]+)-[0-9a-f]{8}\.tmp$/s;
/** No write takes this long, in ms: also what no process of this machine can be asked about is left behind then. */
const ABANDONED_MS = 10 * 60_000;

/** Where process numbers mean what they mean here: the machine, since it was started, and what separates processes on it. */
function whereAmI(): string {
  const facts = [os.hostname()];
  for (const look of [() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1'), () => readlinkSync('/proc/self/ns/pid')]) {
    try {
      facts.push(look());
    } catch {
      // no Linux
    }
  }
  return createHash('sha256').update(facts.join('\0')).digest('hex').slice(0, 8);
}
const WHERE = whereAmI();

/** A fresh name beside `realPath`. */
export function temporaryBeside(realPath: string): string {
  return path.join(
    path.dirname(realPath),
    `.${path.basename(realPath).slice(0, 40)}.dsh-${WHERE}-${process.pid.toString(36)}-${randomBytes(4).toString('hex')}.tmp`,
  );
}

/** Directories that were looked at: once a process is enough, a writer that was killed does not write again. */
const tidied = new Set<string>();

/** Removes what a writer that was killed between making its sibling and renaming it left in `directory`. */
export async function removeAbandoned(directory: string): Promise<void> {
  if (tidied.has(directory)) return;
  tidied.add(directory);
  const names = await fs.readdir(directory).catch(() => []);
  for (const name of names) {
    const [, where, writer] = TEMPORARY.exec(name) ?? [];
    if (where === undefined || writer === undefined) continue;
    const file = path.join(directory, name);
    const stat = await fs.lstat(file).catch(() => undefined);
    if (stat?.isFile() !== true) continue;
    const gone = where === WHERE && !isAlive(Number.parseInt(writer, 36));
    if (gone || Date.now() - stat.mtimeMs > ABANDONED_MS) await fs.rm(file, { force: true }).catch(() => undefined);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
