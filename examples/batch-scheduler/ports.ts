import type { Tried } from "./items.ts";

/** What the use case needs from the world. `wiring.ts` puts the real parts in, a test puts in its own. */
export interface RetryPorts<T> {
  readonly reader: ReadPort<T>;
  /** Resolves to `false` when the other side refused; may throw, and a `PermanentError` ends the attempts. */
  publish(item: T, signal: AbortSignal): Promise<string | false>;
  readonly writer: WritePort;
}

export interface Db {
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- rows are what the caller says of them
  query<R extends object>(text: string, values?: unknown[]): Promise<{ rows: R[] }>;
}

export interface ReadPort<T> {
  /** What was due when the turn began and was not tried in it yet, longest waiting first. */
  findUnpublished(startedAt: Date, size: number): Promise<{ readonly items: readonly T[]; readonly hasMore: boolean }>;
}

export interface WritePort {
  /** Does nothing when another holder tried the item since it was read. */
  persist(startedAt: Date, tried: Tried): Promise<void>;
}
