import { deepStrictEqual } from "node:assert/strict";
import type { JobId, JobView, Json, RunId } from "../../src/machine/job.ts";
import { isFinal } from "../../src/machine/state.ts";
import { FenceLost } from "../../src/machine/fence.ts";
import type { OutboxBatch } from "../../src/machine/outbox.ts";
import type { TestStore } from "../support/looks.ts";
import { createMemoryLockStore, type MemoryLockStore } from "../../src/testing/memory-lock-store.ts";
import { trial } from "../support/reference/transaction.ts";
import type { ReferenceStore } from "../support/reference-store.ts";
import type { TwoConnections } from "./two-connections.ts";

/** A job that both stores have: its id in each. Ids differ, because a real sequence has gaps. */
export interface Twin {
  readonly oracle: JobId;
  readonly real: JobId;
}

export interface RunTwin {
  readonly oracle: RunId;
  readonly real: RunId;
}

export interface OutboxTwin {
  readonly oracle: OutboxBatch;
  readonly real: OutboxBatch;
}

export type Side = "oracle" | "real";

export interface Real {
  readonly store: TestStore;
  /** Two connections of its database. */
  readonly two: () => TwoConnections;
  /** Moves both clocks. */
  readonly advance: (ms: number) => Promise<void>;
  /** Keeps all rows of the database; what it returns puts them back. */
  readonly keepRows: () => Promise<() => Promise<void>>;
}

/** The lock store of one side. */
interface Locks {
  readonly table: MemoryLockStore;
  isAway: boolean;
  takings: number;
}

const noLocks = (): Locks => ({ table: createMemoryLockStore(), isAway: false, takings: 0 });

/** One call, as each store gets it. */
export type Call = (store: TestStore, id: (twin: Twin) => JobId, side: Side) => Promise<unknown>;

/** The same calls on the reference store and on Postgres, with answers made comparable. */
export class Pair {
  readonly oracle: ReferenceStore;
  readonly real: TestStore;
  readonly two: () => TwoConnections;
  readonly jobs: Twin[] = [];
  readonly runs: RunTwin[] = [];
  readonly outbox: OutboxTwin[] = [];
  readonly locks = { oracle: noLocks(), real: noLocks() };
  readonly #advance: (ms: number) => Promise<void>;
  readonly #keepRows: Real["keepRows"];
  readonly #names = { oracle: new Map<string, string>(), real: new Map<string, string>() };
  #marks = 0;
  #recorded: Call[] | null = null;
  #focus: number | null = null;

  constructor(oracle: ReferenceStore, real: Real) {
    this.oracle = oracle;
    this.real = real.store;
    this.two = real.two;
    this.#advance = real.advance;
    this.#keepRows = real.keepRows;
  }

  /** A payload that no other job has: it shows which rows are twins. */
  mark(): Json {
    this.#marks += 1;
    return { mark: this.#marks };
  }

  advance(ms: number): Promise<void> {
    return this.#advance(ms);
  }

  /** Takes back on both sides what `work` wrote. */
  async restoring(work: () => Promise<void>): Promise<void> {
    const forget = this.remember();
    const putBack = await this.#keepRows();
    await trial(this.oracle.tables, async () => {
      await work();
      return { stays: false };
    });
    await putBack();
    forget();
  }

  job(pick: number): Twin | undefined {
    const live = this.jobs.filter(({ oracle }) => this.#isLive(oracle));
    return this.#focus === null ? oneOf(this.jobs, pick) : oneOf(live, this.#focus + (pick % 2));
  }

  run(pick: number): RunTwin | undefined {
    return oneOf(this.runs, this.#focus ?? pick);
  }

  #isLive(id: JobId): boolean {
    const state = this.oracle.tables.jobs.get(Number(id))?.state;
    return state !== undefined && !isFinal(state);
  }

  /** Calls both and expects equal answers, ids and order of rows aside. */
  async both<T>(call: (store: TestStore, id: (twin: Twin) => JobId, side: Side) => Promise<T>): Promise<void> {
    if (this.#recorded !== null) return void this.#recorded.push(call);
    const oracle = await this.answer(this.oracle, call);
    await this.expectEqual(oracle, await this.answer(this.real, call));
  }

  /**
   * The calls that a step would make as things are now; nothing is called. They are about the two live jobs and the run
   * that `focus` picks, so that two steps meet.
   */
  async record(step: { run(pair: Pair): Promise<void> }, focus: number): Promise<readonly Call[]> {
    const calls: Call[] = [];
    this.#recorded = calls;
    this.#focus = focus;
    try {
      await step.run(this);
    } finally {
      this.#recorded = null;
      this.#focus = null;
    }
    return calls;
  }

  /** An expected refusal is an answer too. */
  async answer(store: TestStore, call: Call): Promise<unknown> {
    const side = store === this.oracle ? "oracle" : "real";
    try {
      return (await call(store, (twin) => twin[side], side)) ?? null;
    } catch (error) {
      if (error instanceof FenceLost) return { thrown: error.name };
      throw error;
    }
  }

  /** Gives what is new on both sides its names first. */
  async expectEqual(oracle: unknown, real: unknown): Promise<void> {
    await this.nameNew();
    this.#pairOutbox(outboxIn(oracle), outboxIn(real));
    deepStrictEqual(this.comparable(real, "real"), this.comparable(oracle, "oracle"));
  }

  async nameNew(): Promise<void> {
    await this.#pairNewRuns();
    await this.#pairNewJobs();
  }

  /** @returns what forgets the names and twins that were given since. */
  remember(): () => void {
    const lists = [this.jobs, this.runs, this.outbox].map((list) => ({ list, length: list.length }));
    const names = [this.#names.oracle, this.#names.real].map((map) => ({ map, size: map.size }));
    return () => {
      for (const { list, length } of lists) list.length = length;
      for (const { map, size } of names) for (const key of [...map.keys()].slice(size)) map.delete(key);
    };
  }

  /** Ids become names, members and rows are sorted; of outbox batches counts which messages go to which lane. */
  comparable(value: unknown, side: Side): unknown {
    if (typeof value === "string" && value.startsWith("then:"))
      return `then:${String(this.comparable(value.slice(5), side))}`;
    if (typeof value === "string") return this.#names[side].get(value) ?? value;
    if (Array.isArray(value)) {
      const items = value.flatMap((item: unknown) => (isOutboxBatch(item) ? messagesOf(item) : [item]));
      return items.map((item) => this.comparable(item, side)).toSorted(byText);
    }
    if (typeof value !== "object" || value === null) return value;
    if (value instanceof Map)
      return Object.fromEntries(
        [...value].map(([key, inner]) => [this.comparable(key, side), this.comparable(inner, side)]),
      );
    // How large a payload is in Postgres only Postgres knows. In order of the names, because rows are sorted by their text.
    const members = Object.entries(value).filter(([key]) => key !== "payloadBytes");
    return Object.fromEntries(members.toSorted(byText).map(([key, inner]) => [key, this.comparable(inner, side)]));
  }

  async #pairNewJobs(): Promise<void> {
    const [oracle, real] = [await this.#newJobs("oracle"), await this.#newJobs("real")];
    deepStrictEqual([...real.keys()], [...oracle.keys()]);
    for (const [mark, id] of oracle) {
      const twin = { oracle: id, real: real.get(mark) ?? id };
      this.jobs.push(twin);
      this.#names.oracle.set(twin.oracle, `job ${mark}`);
      this.#names.real.set(twin.real, `job ${mark}`);
    }
  }

  async #pairNewRuns(): Promise<void> {
    const [oracle, real] = [await this.oracle.runs(), await this.real.runs()];
    for (const { id, key } of oracle) {
      if (this.#names.oracle.has(id)) continue;
      const twin = { oracle: id, real: real.find((run) => run.key === key)?.id ?? id };
      this.runs.push(twin);
      this.#names.oracle.set(twin.oracle, `run ${key}`);
      this.#names.real.set(twin.real, `run ${key}`);
    }
  }

  async #newJobs(side: Side): Promise<Map<string, JobId>> {
    const listed = await this[side].jobs();
    const fresh = listed.filter((job) => !this.#names[side].has(job.id)).toReversed();
    // Tasks of a graph have no payload of their own.
    const markOf = ({ payload, runId, task }: JobView): string =>
      task === null
        ? JSON.stringify(this.comparable(payload, side))
        : `${String(this.comparable(runId, side))} ${task}`;
    return new Map(fresh.map((job) => [markOf(job), job.id]));
  }

  #pairOutbox(oracle: readonly OutboxBatch[], real: readonly OutboxBatch[]): void {
    for (const one of oracle) {
      const text = JSON.stringify(this.comparable([one], "oracle"));
      const twin = real.find((other) => JSON.stringify(this.comparable([other], "real")) === text);
      if (twin !== undefined) this.outbox.push({ oracle: one, real: twin });
    }
  }
}

const oneOf = <T>(list: readonly T[], pick: number): T | undefined => list[pick % Math.max(1, list.length)];

const byText = (a: unknown, b: unknown): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

function outboxIn(answer: unknown): readonly OutboxBatch[] {
  const list: unknown = Array.isArray(answer) ? answer : (answer as { outbox?: unknown } | null)?.outbox;
  return Array.isArray(list) ? (list as unknown[]).filter(isOutboxBatch) : [];
}

const messagesOf = ({ lane, messages }: OutboxBatch): unknown[] => messages.map((message) => ({ ...message, lane }));

const isOutboxBatch = (item: unknown): item is OutboxBatch =>
  typeof item === "object" && item !== null && "messages" in item && "lane" in item;
