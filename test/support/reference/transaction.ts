import type { StoreTx } from "../../../src/machine/transaction.ts";
import type { Tables } from "./tables.ts";

/** Runs a statement; what it wrote is undone when it throws. */
export function atomically<T>(t: Tables, statement: () => T): T {
  const start = t.journal.length;
  try {
    const result = statement();
    if (!t.isTrial) t.journal.length = 0;
    return result;
  } catch (error) {
    undo(t, start);
    throw error;
  }
}

/** Runs statements and transactions whose writes are taken back unless `work` says that they stay. */
export async function trial(t: Tables, work: () => Promise<{ stays: boolean }>): Promise<boolean> {
  t.isTrial = true;
  let stays = false;
  try {
    ({ stays } = await work());
  } finally {
    t.isTrial = false;
    if (!stays) undo(t, 0);
    t.journal.length = 0;
  }
  return stays;
}

/** What the database answers when a transaction met a concurrent change; the caller may try again. */
export class SerializationFailure extends Error {
  override readonly name = "SerializationFailure";
  readonly code = "40001";
}

interface Step {
  readonly statement: () => unknown;
  /** Numbers the first run drew; the commit uses the same. */
  readonly drawn: number[];
  readonly answer: string;
}

/**
 * An open transaction. Nothing of it is visible to others: each statement is tried on the tables as they are now,
 * answered, and undone. The commit runs all of them again as one; when an answer would differ because another process
 * changed the rows in between, it fails instead. (A real database holds row locks; here the later one gives way.)
 */
export class ReferenceTx implements StoreTx {
  /** Its statements only fail together with their work. */
  readonly brokenBy = null;
  readonly #tables: Tables;
  readonly #steps: Step[] = [];

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  /** Any SQL is kept as an effect: it exists exactly if the transaction commits. */
  async query(text: string, values: unknown[] = []): Promise<{ rows: never[]; rowCount: number }> {
    this.perform(() => this.#tables.effects.append({ text, values }));
    return { rows: [], rowCount: 1 };
  }

  async nested<T>(work: () => Promise<T>): Promise<T> {
    const savepoint = this.#steps.length;
    try {
      return await work();
    } catch (error) {
      this.#steps.length = savepoint;
      throw error;
    }
  }

  /** @returns the answer of the statement in the transaction so far. */
  perform<T>(statement: () => T): T {
    const drawn: number[] = [];
    const start = this.#tables.journal.length;
    try {
      for (const step of this.#steps) replay(this.#tables, step.drawn, step.statement);
      const result = replay(this.#tables, drawn, statement);
      this.#steps.push({ statement, drawn, answer: fingerprint(result) });
      return result;
    } finally {
      undo(this.#tables, start);
    }
  }

  commit(): void {
    atomically(this.#tables, () => {
      for (const step of this.#steps) {
        const again = fingerprint(replay(this.#tables, step.drawn, step.statement));
        if (again !== step.answer) throw new SerializationFailure("another transaction changed these rows first");
      }
    });
  }
}

function undo(t: Tables, start: number): void {
  for (const back of t.journal.slice(start).toReversed()) back();
  t.journal.length = start;
}

function replay<T>(t: Tables, drawn: number[], statement: () => T): T {
  const draw = t.draw;
  let at = 0;
  t.draw = (sequence) => {
    const known = drawn[at] ?? draw(sequence);
    drawn[at] = known;
    at += 1;
    return known;
  };
  try {
    return statement();
  } finally {
    t.draw = draw;
  }
}

/** What a caller may have acted on. Instants and waits change with the time of the statement and are not part of it. */
const fingerprint = (answer: unknown): string =>
  JSON.stringify(answer, (key, value: unknown) => (isTime.test(key) ? undefined : value)) ?? "";

const isTime = /(?:At|Until|Ms)$/;
