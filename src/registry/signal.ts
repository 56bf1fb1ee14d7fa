/** A signal that follows two others, and the end of that. */
export interface FusedSignal { readonly signal: AbortSignal; dispose(): void }

const nothing = (): void => {};

/**
 * Follows the caller's signal and the one a wrapper put in its place: either one's abort aborts the result, with that
 * one's reason (P4.19). One and the same signal is used as it is.
 */
export function fuseSignals(caller: AbortSignal, wrapper: AbortSignal): FusedSignal {
  if (caller === wrapper) return { signal: caller, dispose: nothing };
  const controller = new AbortController();
  const sources = [wrapper, caller];
  const listeners = sources.map((source) => () => {
    dispose();
    controller.abort(source.reason);
  });
  function dispose(): void {
    sources.forEach((source, at) => source.removeEventListener('abort', listeners[at]!));
  }
  const early = sources.findIndex((source) => source.aborted);
  if (early >= 0) controller.abort(sources[early]!.reason);
  else sources.forEach((source, at) => source.addEventListener('abort', listeners[at]!, { once: true }));
  return { signal: controller.signal, dispose };
}
