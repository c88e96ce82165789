import type { Tx } from "./transaction.ts";

/** The token a pass installed. Every fenced call checks it in its own transaction and throws `FenceLost`. */
export interface Fence {
  readonly name: string;
  readonly token: number;
}

/** A write was routed by an older cell map than the one of this cell. Nothing was done: read the map, and route it again. */
export class CellMapChanged extends Error {
  override readonly name = "CellMapChanged";
}

/** How jobs are inserted. */
export interface InsertSettings {
  readonly tx?: Tx | undefined;
  readonly fence?: Fence | undefined;
  readonly lockWaitMs?: number | undefined;
  /** Of the cell map that routed the jobs here. The insert throws `CellMapChanged` when this cell has a newer one. */
  readonly mapVersion?: number | undefined;
}

/** Raised by a fenced call after another holder installed a newer token. Stop the pass; it is not an error. */
export class FenceLost extends Error {
  override readonly name = "FenceLost";
}
