/** The domain: what is retried, and what may become of it. Pure; each method returns what is to be persisted. */

export interface RetryPolicy {
  readonly maxAttempts: number;
  /** Wait after the first failed attempt, in milliseconds (1 or more); doubles with each further one. */
  readonly backoffMs: number;
}

/** An item after an attempt. */
export interface Tried<V> {
  readonly id: string;
  /** Attempts before this one: it counts only if no other holder made one in between. */
  readonly attemptsBefore: number;
  readonly state: "PENDING" | "PUBLISHED" | "DOWNLOADED" | "FAILED";
  /** Until the next attempt, from the start of the turn; null when there is none. */
  readonly waitMs: number | null;
  readonly error: string | null;
  readonly value: V | null;
}

export abstract class Item<V> {
  readonly id: string;
  readonly attempts: number;
  constructor({ id, attempts }: { readonly id: string; readonly attempts: number }) {
    this.id = id;
    this.attempts = attempts;
  }

  abstract markDone(value: V): Tried<V>;

  /** At the end of the line, or given up after the last attempt. */
  retryLater(error: string, { maxAttempts, backoffMs }: RetryPolicy): Tried<V> {
    if (this.attempts + 1 >= maxAttempts) return this.giveUp(error);
    return this.after("PENDING", { waitMs: backoffMs * 2 ** this.attempts, error });
  }

  giveUp(error: string): Tried<V> {
    return this.after("FAILED", { error });
  }

  protected after(state: Tried<V>["state"], more: Partial<Tried<V>>): Tried<V> {
    return { id: this.id, attemptsBefore: this.attempts, state, waitMs: null, error: null, value: null, ...more };
  }
}

export class Outbox extends Item<true> {
  readonly key: string;
  readonly topic: string;
  readonly body: string;
  constructor(row: { id: string; attempts: number; key: string; topic: string; body: string }) {
    super(row);
    this.key = row.key;
    this.topic = row.topic;
    this.body = row.body;
  }

  markPublished(): Tried<true> {
    return this.after("PUBLISHED", {});
  }

  override markDone(): Tried<true> {
    return this.markPublished();
  }
}

export interface Download {
  readonly bytes: number;
  readonly sha256: string;
  readonly content: string;
}

export class ExternalFile extends Item<Download> {
  readonly path: string;
  constructor(row: { id: string; attempts: number; path: string }) {
    super(row);
    this.path = row.path;
  }

  override markDone(value: Download): Tried<Download> {
    return this.after("DOWNLOADED", { value });
  }
}
