import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';

/*
 * Reads `+ pid token`, `- pid` lines. When the pipe ends although commands are still listed, the process that wrote them is dead:
 * ends the listed groups, sessions, their descendants and whoever carries a token or its mark, politely first, then for as long as
 * any is left; then removes the folder given as the first argument.
 */
const SCRIPT = String.raw`
list=' '
while read -r op pid token; do
  case $op in
    +) list="$list$pid:$token " ;;
    -) case $list in *" $pid:"*) rest=\${list#*" $pid:"}; list="\${list%%" $pid:"*} \${rest#* }" ;; esac ;;
  esac
done
members() {
  if [ -r /proc/self/stat ]; then
    cat /proc/[0-9]*/stat 2>/dev/null | sed 's/(.*)/x/' | awk '$3 != "Z" { print $1, $4, $5, $6 }'
  else
    ps -A -o pid=,ppid=,pgid=,stat= | awk '$4 !~ /^Z/ { print $1, $2, $3, 0 }'
  fi | awk -v roots="$roots" -v marked="$marked" -v self="$$" '
    BEGIN { n = split(roots, r, " "); for (i = 1; i <= n; i++) root[r[i]] = 1; n = split(marked, m, " "); for (i = 1; i <= n; i++) hit[m[i]] = 1 }
    { parent[$1] = $2; if ($1 in root || $3 in root || $4 in root) hit[$1] = 1; seen[$1] = 1 }
    END {
      do { grew = 0; for (p in parent) if (!(p in hit) && parent[p] in hit) { hit[p] = 1; grew = 1 } } while (grew)
      for (p in hit) if (p in seen && p != self) print p
    }'
}
sweep() {
  marked=
  for entry in $list; do
    token=\${entry#*:}
    for file in $(grep -lsaF -e "DSH_RUN_ID=$token" /proc/[0-9]*/environ 2>/dev/null); do
      file=\${file#/proc/}
      marked="$marked \${file%/environ}"
    done
    marked="$marked $(ls -l /proc/[0-9]*/fd/9 2>/dev/null | grep -F "/$token.mark" | sed 's#.*/proc/\([0-9]*\)/fd/9 -> .*#\1#' | tr '\n' ' ')"
  done
  found=$(members)
}
roots=
for entry in $list; do roots="$roots \${entry%%:*}"; done
if [ -n "$roots" ]; then
  sweep
  for pid in $roots; do kill -TERM -"$pid" 2>/dev/null; kill -CONT -"$pid" 2>/dev/null; done
  [ -n "$found" ] && { kill -TERM $found; kill -CONT $found; } 2>/dev/null
  round=0
  while [ $round -lt 100 ]; do
    sleep 0.2
    sweep
    [ -z "$found" ] && break
    round=$((round + 1))
    if [ $round -gt 4 ]; then
      for pid in $roots; do kill -KILL -"$pid" 2>/dev/null; done
      kill -KILL $found 2>/dev/null
    fi
  done
fi
[ -n "$1" ] && rm -rf -- "$1"
`.replaceAll('\\$', '$');

/**
 * A tiny shell beside us that outlives us by a moment: when this process dies without a word (killed, crashed), the
 * kernel closes the pipe between us, and the watchdog ends what we left running (D3). POSIX only.
 */
export class Watchdog {
  private readonly folder: string;
  private child: ChildProcess | undefined;
  private readonly guarded = new Map<number, string>();

  /** @param folder absolute; removed once this process is gone */
  constructor(folder: string) {
    this.folder = folder;
  }

  private ensure(): ChildProcess | undefined {
    if (process.platform === 'win32') return undefined;
    if (this.child !== undefined) return this.child;
    const child = spawn('/bin/sh', ['-c', SCRIPT, 'dsh-watchdog', this.folder], {
      // a session of its own, so that what kills our group leaves it to its work
      detached: true,
      cwd: '/',
      stdio: ['pipe', 'ignore', 'ignore'],
      env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
    });
    const forget = (): void => {
      if (this.child === child) this.child = undefined;
    };
    child.on('exit', forget);
    child.on('error', forget);
    child.stdin?.on('error', forget);
    child.unref();
    // the pipe must not keep this process alive either
    (child.stdin as unknown as { unref?(): void }).unref?.();
    this.child = child;
    for (const [pid, token] of this.guarded) child.stdin?.write(`+ ${pid} ${token}\n`);
    return child;
  }

  /** From now on, this process's end is noticed. */
  start(): void {
    this.ensure();
  }

  /** Resolves once the watchdog's pipe has the line, so that dying right after is covered. */
  guard(pid: number, token: string): Promise<void> {
    const child = this.ensure();
    this.guarded.set(pid, token);
    return new Promise((resolve) => {
      if (child?.stdin == null) resolve();
      else child.stdin.write(`+ ${pid} ${token}\n`, () => resolve());
    });
  }

  release(pid: number): void {
    if (this.guarded.delete(pid)) this.child?.stdin?.write(`- ${pid}\n`);
  }

  /** Ends the watchdog; whatever is still guarded ends with it. */
  close(): void {
    this.child?.stdin?.end();
    this.child = undefined;
    this.guarded.clear();
  }
}
