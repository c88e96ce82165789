import type { Item, Tried } from "./items.ts";

/** What the use case needs from the world. `wiring.ts` puts the real parts in, a test puts in its own. */

/** One run of a scheduler. Only what was due when it began belongs to it, so it meets no item twice. */
export interface Turn {
  /** The database's own text of the instant, so that no precision is lost on the way. */
  readonly startedAt: string;
}

export interface ReadPort<T> {
  begin(): Promise<Turn>;
  /** The items of this turn that were not tried in it yet, longest waiting first. */
  findUnpublished(turn: Turn, size: number): Promise<{ readonly items: readonly T[]; readonly hasMore: boolean }>;
}

/** Resolves to `false` when the other side refused; may throw, and a `PermanentError` ends the attempts. */
export type PublishPort<T, V> = (item: T, signal: AbortSignal) => Promise<V | false>;

export interface WritePort<V> {
  /** Does nothing when another holder tried the item since it was read. */
  persist(turn: Turn, tried: Tried<V>): Promise<void>;
}

export interface RetryPorts<T extends Item<V>, V> {
  readonly reader: ReadPort<T>;
  readonly publish: PublishPort<T, V>;
  readonly writer: WritePort<V>;
}
