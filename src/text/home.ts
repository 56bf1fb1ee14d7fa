import os from 'node:os';
import path from 'node:path';

/** `~` and what is below it, as a shell would have it; a file of that name is `./~`. */
export function expandHome(given: string): string {
  return given === '~' || /^~[\\/]/.test(given) ? path.join(os.homedir(), given.slice(1)) : given;
}
