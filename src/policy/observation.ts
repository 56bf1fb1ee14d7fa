import type { Context } from '@deepseek-ai/cordis';
import type { Agent, Session } from '../contract/agent.ts';
import { HarnessError } from '../contract/error.ts';
import type { FileObservation, FileTarget, MutationCheck } from '../seams/fs.ts';

/**
 * Read before write, and no write over what changed meanwhile (B10.8, B10.10, B10.12). Lives on the events of the file
 * seam alone: tools do not know it. What an agent has seen is kept in memory, per session and real path.
 */
export const name = 'fs-observation';

export function apply(ctx: Context): void {
  const seen = new WeakMap<Session, Map<string, FileObservation>>();

  ctx.on('fs/observed', (target: FileTarget, observation: FileObservation, agent: Agent | undefined) => {
    if (agent === undefined) return;
    let files = seen.get(agent.session);
    if (files === undefined) seen.set(agent.session, files = new Map());
    files.set(target.realPath, observation);
  });

  ctx.on('fs/mutation-check', (check: MutationCheck) => {
    const observation = check.agent === undefined ? undefined : seen.get(check.agent.session)?.get(check.target.realPath);
    return check.kind === 'edit' ? refuseEdit(check, observation) : refuseWrite(check, observation);
  });
}

function refuseEdit({ displayPath, version }: MutationCheck, observation: FileObservation | undefined): HarnessError | undefined {
  if (observation?.kind === 'absent' && version === null) {
    return new HarnessError(`cannot edit "${displayPath}": not found`, 'FS_NOT_FOUND');
  }
  if (observation === undefined || observation.kind === 'absent') {
    return new HarnessError(`edit requires reading "${displayPath}" first — read the file, then retry`, 'FS_NOT_OBSERVED');
  }
  if (observation.version !== version) {
    return new HarnessError(`cannot edit "${displayPath}": file changed since it was read — re-read the file, then retry`, 'FS_STALE_VERSION');
  }
  return undefined;
}

function refuseWrite({ displayPath, version }: MutationCheck, observation: FileObservation | undefined): HarnessError | undefined {
  if (observation === undefined || observation.kind === 'absent') {
    if (version === null) return undefined;
    return new HarnessError(
      `cannot overwrite existing "${displayPath}" without reading it first — read the file, then retry`, 'FS_NOT_OBSERVED',
    );
  }
  if (version === null) {
    return new HarnessError(`cannot write "${displayPath}": file no longer exists — read the path again, then retry`, 'FS_STALE_VERSION');
  }
  if (observation.version !== version) {
    return new HarnessError(`cannot write "${displayPath}": file changed since it was read — re-read the file, then retry`, 'FS_STALE_VERSION');
  }
  return undefined;
}
