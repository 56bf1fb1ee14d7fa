import type { Corrections } from './play.ts';

/** A place where ours answers otherwise on purpose: what a listener of the published package would have to do for our outcome. */
export interface Difference { readonly clause: string; readonly why: string; readonly corrections: Corrections }

const unsupported = 'tools/pre-execute returned an unsupported decision';

export const differences: readonly Difference[] = [
  {
    clause: 'P4.4', why: 'a listener that assigns exec.name redirects nothing: the identity of a call cannot be changed',
    corrections: { 'pre rename': (next) => next() },
  },
  {
    clause: 'P4.12', why: 'a decision of an unknown kind denies instead of letting the body run',
    corrections: { 'pre unknown-kind': () => ({ kind: 'deny', reason: unsupported }) },
  },
  {
    clause: 'P4.12', why: 'a denial without a reason denies instead of letting the body run',
    corrections: { 'pre deny-without-reason': (_next, exec) => ({ kind: 'deny', reason: `a policy denied tool "${exec['name']}" without giving a reason` }) },
  },
  {
    clause: 'P4.12', why: 'a decision that is a mere string is an error instead of letting the body run',
    corrections: { 'pre text': () => { throw new TypeError(unsupported); } },
  },
  {
    clause: 'P4.11', why: 'no decision at all says so instead of showing how JavaScript failed to read it',
    corrections: { 'pre nothing': () => { throw new TypeError(unsupported); } },
  },
  {
    clause: 'P4.25', why: 'a wrapper that returns nothing is told so instead of how JavaScript failed to read it',
    corrections: { 'around nothing': () => { throw new TypeError('tools/execute listeners must return a tool result'); } },
  },
  {
    clause: 'P4.27', why: 'a post-execute decision of an unknown kind is an error instead of letting the result pass as it is',
    corrections: { 'post unknown-kind': () => { throw new TypeError('tools/post-execute returned an unsupported decision'); } },
  },
  {
    clause: 'P4.29', why: 'a post-execute listener that returns nothing is told so instead of how JavaScript failed to read it',
    corrections: { 'post nothing': () => { throw new TypeError('tools/post-execute returned an unsupported decision'); } },
  },
];
