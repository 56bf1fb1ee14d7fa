import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { ViewToHost } from '../../src/protocol.ts';

/** What every part of the chat may do. */
export interface ChatActions {
  post(message: ViewToHost): void;
  /** Says something to screen readers, politely. */
  announce(text: string): void;
  /** Puts text into the composer and the focus after it: the answer to a click of the user. */
  fill(text: string): void;
  readonly platform: string;
}

export const Actions = createContext<ChatActions>({ post: () => {}, announce: () => {}, fill: () => {}, platform: 'linux' });
export const useActions = (): ChatActions => useContext(Actions);
