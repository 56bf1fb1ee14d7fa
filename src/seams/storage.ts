/** Where the host keeps its files. All absolute. */
export interface StoragePaths {
  /** One folder a workspace: `sessions/<id>.jsonl`, `sessions/<id>/` for spill and reviews (G5, F11). */
  readonly sessions: string;
}
