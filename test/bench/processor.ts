import { readFileSync } from 'node:fs';

/** Processor time of this process and of the children it has waited for, in ms; undefined where the system does not tell. */
function used(): number | undefined {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // after the name in parentheses: user and system time of the process are fields 12 and 13 here, of its children 14 and 15
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ').map(Number);
    return [11, 12, 13, 14].reduce((sum, at) => sum + (fields[at] ?? NaN), 0) * 10;
  } catch {
    return undefined;
  }
}

/** One contender's account over several rounds: what a busy machine does not change much. */
export class Account {
  total = 0;

  async during<T>(work: () => Promise<T>): Promise<T> {
    const before = used();
    const result = await work();
    const after = used();
    this.total += before === undefined || after === undefined ? NaN : after - before;
    return result;
  }
}
