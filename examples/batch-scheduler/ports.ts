/** What the use case needs from the world. `assembler.ts` puts the real parts in, a test puts in its own. */

export interface Item {
  readonly id: string;
  /** Tries so far. */
  readonly attempts: number;
}

export interface OutboxMessage extends Item {
  readonly key: string;
  readonly topic: string;
  readonly body: string;
}

export interface ExternalFile extends Item {
  readonly path: string;
}

export interface Download {
  readonly bytes: number;
  readonly sha256: string;
  readonly content: string;
}

/** One run of a scheduler. Only what was due when it began belongs to it, so it meets no item twice. */
export interface Turn {
  /** The database's own text of the instant, so that no precision is lost on the way. */
  readonly startedAt: string;
}

export interface Reader<T extends Item> {
  begin(): Promise<Turn>;
  /** The items of this turn that were not tried in it yet, longest waiting first. */
  next(turn: Turn, size: number): Promise<{ readonly items: readonly T[]; readonly hasMore: boolean }>;
}

/** Resolves to `false` when the other side refused; may throw, and a `PermanentError` ends the tries. */
export type Deliver<T extends Item, R> = (item: T, signal: AbortSignal) => Promise<R | false>;

/** What the use case decided about one item. */
export type Verdict<R> =
  | { readonly state: "done"; readonly value: R }
  | { readonly state: "again"; readonly afterMs: number; readonly error: string }
  | { readonly state: "failed"; readonly error: string };

export interface Writer<T extends Item, R> {
  /** Persists a verdict. Does nothing when the item was tried by someone else since it was read. */
  save(turn: Turn, item: T, verdict: Verdict<R>): Promise<void>;
}
