/** `ctx.ripgrep`: where the ripgrep binary is, for grep and glob (I7, I9). */
export interface RipgrepLocator {
  /** Absolute path of a runnable binary. Throws with every place looked at when there is none. */
  locate(): Promise<string>;
}

declare module '@deepseek-ai/cordis' {
  interface Context { ripgrep: RipgrepLocator }
}
