/** The domain: what is retried, and what may become of it. Pure; each method returns what is to be persisted. */
interface Row {
  readonly id: string;
  readonly attempts: number;
}

export interface RetryPolicy {
  readonly maxAttempts: number;
  /** Wait after the first failed attempt, in milliseconds (1 or more); doubles with each further one. */
  readonly backoffMs: number;
}

/** An item after an attempt. It counts only if no other holder made one since the row was read. */
export interface Tried {
  readonly row: Row;
  readonly state: "PENDING" | "PUBLISHED" | "DOWNLOADED" | "FAILED";
  /** Until the next attempt, from the start of the turn. */
  readonly waitMs?: number;
  readonly error?: string;
  /** What the other side gave for it: the queue's id of a message, the content of a file. */
  readonly answer?: string;
}

export abstract class Item<R extends Row = Row> {
  protected abstract readonly done: Tried["state"];
  readonly row: R;
  constructor(row: R) {
    this.row = row;
  }

  markPublished(answer: string): Tried {
    return { row: this.row, state: this.done, answer };
  }

  /** At the end of the line, or given up after the last attempt. */
  retryLater(error: string, { maxAttempts, backoffMs }: RetryPolicy): Tried {
    const { row } = this;
    if (row.attempts + 1 >= maxAttempts) return this.giveUp(error);
    return { row, state: "PENDING", waitMs: backoffMs * 2 ** row.attempts, error };
  }

  giveUp(error: string): Tried {
    return { row: this.row, state: "FAILED", error };
  }
}

export class Outbox extends Item<Row & Readonly<{ key: string; body: unknown }>> {
  protected override readonly done = "PUBLISHED";
}

export class ExternalFile extends Item<Row & Readonly<{ path: string }>> {
  protected override readonly done = "DOWNLOADED";
}
