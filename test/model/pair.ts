import { deepStrictEqual } from "node:assert/strict";
import type { JobId, JobView, Json, RunId } from "../../src/core/job/job.ts";
import { FenceLost } from "../../src/core/ports/ports.ts";
import type { OutboxBatch, Store } from "../../src/core/ports/ports.ts";
import type { ReferenceStore } from "../support/reference-store.ts";

/** A job that both stores have: its id in each. Ids differ, because a real sequence has gaps. */
export interface Twin {
  readonly oracle: JobId;
  readonly real: JobId;
}

export interface RunTwin {
  readonly oracle: RunId;
  readonly real: RunId;
}

export interface HandoffTwin {
  readonly oracle: OutboxBatch;
  readonly real: OutboxBatch;
}

export type Side = "oracle" | "real";

/** The same calls on the reference store and on Postgres, with answers made comparable. */
export class Pair {
  readonly oracle: ReferenceStore;
  readonly real: Store;
  readonly jobs: Twin[] = [];
  readonly runs: RunTwin[] = [];
  readonly outbox: HandoffTwin[] = [];
  readonly #advance: (ms: number) => Promise<void>;
  readonly #names = { oracle: new Map<string, string>(), real: new Map<string, string>() };
  #marks = 0;

  constructor(oracle: ReferenceStore, real: Store, advance: (ms: number) => Promise<void>) {
    this.oracle = oracle;
    this.real = real;
    this.#advance = advance;
  }

  /** A payload that no other job has: it tells which rows are twins. */
  mark(): Json {
    this.#marks += 1;
    return { mark: this.#marks };
  }

  advance(ms: number): Promise<void> {
    return this.#advance(ms);
  }

  job(pick: number): Twin | undefined {
    return this.jobs[pick % Math.max(1, this.jobs.length)];
  }

  run(pick: number): RunTwin | undefined {
    return this.runs[pick % Math.max(1, this.runs.length)];
  }

  /** Calls both and expects equal answers, ids and order of rows aside. */
  async both<T>(call: (store: Store, id: (twin: Twin) => JobId, side: Side) => Promise<T>): Promise<void> {
    const oracle = await answerOf(() => call(this.oracle, (twin) => twin.oracle, "oracle"));
    const real = await answerOf(() => call(this.real, (twin) => twin.real, "real"));
    await this.#pairNewRuns();
    await this.#pairNewJobs();
    this.#pairHandoffs(handoffsIn(oracle), handoffsIn(real));
    deepStrictEqual(this.comparable(real, "real"), this.comparable(oracle, "oracle"));
  }

  /** Ids become names and rows are sorted; of outbox batches counts which messages go to which lane. */
  comparable(value: unknown, side: Side): unknown {
    if (typeof value === "string") return this.#names[side].get(value) ?? value;
    if (Array.isArray(value)) {
      const items = value.flatMap((item: unknown) => (isHandoff(item) ? messagesOf(item) : [item]));
      return items.map((item) => this.comparable(item, side)).toSorted(byText);
    }
    if (typeof value !== "object" || value === null) return value;
    if (value instanceof Map)
      return Object.fromEntries(
        [...value].map(([key, inner]) => [this.comparable(key, side), this.comparable(inner, side)]),
      );
    // How large a payload is in Postgres only Postgres knows.
    const members = Object.entries(value).filter(([key]) => key !== "payloadBytes");
    return Object.fromEntries(members.map(([key, inner]) => [key, this.comparable(inner, side)]));
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
    const [oracle, real] = [await this.oracle.runs({ limit: 40 }), await this.real.runs({ limit: 40 })];
    for (const { id, key } of oracle) {
      if (this.#names.oracle.has(id)) continue;
      const twin = { oracle: id, real: real.find((run) => run.key === key)?.id ?? id };
      this.runs.push(twin);
      this.#names.oracle.set(twin.oracle, `run ${key}`);
      this.#names.real.set(twin.real, `run ${key}`);
    }
  }

  async #newJobs(side: Side): Promise<Map<string, JobId>> {
    const listed = await this[side].jobs({ limit: 40 });
    const fresh = listed.filter((job) => !this.#names[side].has(job.id)).toReversed();
    // Tasks of a graph have no payload of their own.
    const markOf = ({ payload, runId, task }: JobView): string =>
      task === null ? JSON.stringify(payload) : `${String(this.comparable(runId, side))} ${task}`;
    return new Map(fresh.map((job) => [markOf(job), job.id]));
  }

  #pairHandoffs(oracle: readonly OutboxBatch[], real: readonly OutboxBatch[]): void {
    for (const one of oracle) {
      const text = JSON.stringify(this.comparable([one], "oracle"));
      const twin = real.find((other) => JSON.stringify(this.comparable([other], "real")) === text);
      if (twin !== undefined) this.outbox.push({ oracle: one, real: twin });
    }
  }
}

const byText = (a: unknown, b: unknown): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

/** An expected refusal is an answer too. */
async function answerOf(call: () => Promise<unknown>): Promise<unknown> {
  try {
    return (await call()) ?? null;
  } catch (error) {
    if (error instanceof FenceLost) return { thrown: error.name };
    throw error;
  }
}

function handoffsIn(answer: unknown): readonly OutboxBatch[] {
  const list: unknown = Array.isArray(answer) ? answer : (answer as { outbox?: unknown } | null)?.outbox;
  return Array.isArray(list) ? (list as unknown[]).filter(isHandoff) : [];
}

const messagesOf = ({ lane, messages }: OutboxBatch): unknown[] => messages.map((message) => ({ ...message, lane }));

const isHandoff = (item: unknown): item is OutboxBatch =>
  typeof item === "object" && item !== null && "messages" in item && "lane" in item;
