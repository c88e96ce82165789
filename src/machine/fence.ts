import type { CallerTx } from "./transaction.ts";

/** The token a pass installed. Every fenced call checks it in its own transaction and throws `FenceLost`. */
export interface Fence {
  readonly name: string;
  readonly token: number;
}

/** A write was routed by an older cell map than the one of this cell. Nothing was done: read the map, and route it again. */
export class CellMapChanged extends Error {
  override readonly name = "CellMapChanged";
}

export interface InsertSettings {
  readonly tx?: CallerTx | undefined;
  readonly fence?: Fence | undefined;
  readonly lockWaitMs?: number | undefined;
  /** Of the cell map that routed the jobs here. The insert throws `CellMapChanged` when this cell has a newer one. */
  readonly mapVersion?: number | undefined;
}

/** Raised by a fenced call after another holder installed a newer token. Stop the pass; it is not an error. */
export class FenceLost extends Error {
  override readonly name = "FenceLost";
}

/** The lock row in Postgres that is used while the lock store is away. */
export interface FallbackLock {
  /** Takes the lock row judged by the database's clock; the fence is above every token known. */
  takeFallback(name: string, owner: string, leaseMs: number): Promise<{ fence: number } | { heldBy: string }>;
  renewFallback(name: string, owner: string, fence: number, leaseMs: number): Promise<boolean>;
  releaseFallback(name: string, owner: string, fence: number): Promise<void>;
}
