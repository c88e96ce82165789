import { contractLimits } from "../../src/machine/contract-limits.ts";
import { runLimits } from "../../src/machine/run-limits.ts";
import type { JobId, RunId } from "../../src/machine/job.ts";
import type { Claimed } from "../../src/machine/store.ts";
import type { TestStore } from "../support/looks.ts";
import type { OutboxBatch, Message } from "../../src/machine/outbox.ts";
import type { NewRun, FailurePolicy } from "../../src/machine/run.ts";
import { joinParts, joinRules } from "../../src/machine/join.ts";
import { isFinal } from "../../src/machine/state.ts";
import { aJob, settlementOf, settleOptions } from "../contract/store/fixture.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { oracle, type PlannedTask, runEnd } from "./oracle.ts";

type Chance = () => number;

const below = (chance: Chance, n: number): number => Math.floor(chance() * n);

/** Up to 24 tasks, now and then one with more predecessors than a narrow join has. */
export function randomGraph(chance: Chance): readonly PlannedTask[] {
  const isWide = chance() < 0.15;
  const size = isWide ? runLimits.wideJoinOver + 4 + below(chance, 12) : 1 + below(chance, 24);
  const density = 0.05 + chance() * 0.5;
  return Array.from({ length: size }, (_, place) => {
    const earlier = Array.from({ length: place }, (_unused, before) => before);
    const isJoin = isWide && place > runLimits.wideJoinOver + 1 && chance() < 0.7;
    const after = earlier.filter((before) => (isJoin ? true : before > place - 12 && chance() < density));
    const roll = chance();
    return {
      name: `t${place}`,
      after,
      join: joinRules[below(chance, 4)] ?? { atLeast: 1 + below(chance, 4) },
      fate: roll < 0.75 ? "succeed" : roll < 0.88 ? "fail" : "branch",
    };
  });
}

const newRun = (tasks: readonly PlannedTask[], key: string, onFailure: FailurePolicy): NewRun => ({
  kind: "random",
  key,
  version: 1,
  shape: null,
  input: null,
  onFailure,
  tolerate: 0,
  continuation: null,
  retentionMs: contractLimits.retentionMsDefault,
  trace: "trace",
  starterId: null,
  parentId: null,
  sealed: true,
  tasks: tasks.map((task) => ({
    task: task.name,
    job: aJob({ kind: "random.task", payload: null }),
    after: task.after,
    join: task.join,
    hasCondition: task.fate === "branch",
  })),
});

/** Runs one random graph on a store, step by step in an order the seed picks. @returns what differs from the oracle. */
export async function graphDiffers(
  store: TestStore,
  seed: number,
  onFailure: "skip-downstream" | "continue",
): Promise<string[]> {
  const chance = seededRandom(seed).next;
  const tasks = randomGraph(chance);
  const started = await store.startRun(newRun(tasks, `seed-${seed}-${onFailure}`, onFailure));
  const turn = new Turn(store, started.runId, tasks, chance);
  await turn.run(started.aftermath.outbox);
  return [...turn.early, ...(await differences(store, started.runId, tasks, onFailure))];
}

class Turn {
  /** Tasks that were claimed before their join rule held. */
  readonly early: string[] = [];
  readonly #store: TestStore;
  readonly #runId: RunId;
  readonly #tasks: readonly PlannedTask[];
  readonly #chance: Chance;
  #messages: Message[] = [];
  #held: Claimed[] = [];

  constructor(store: TestStore, runId: RunId, tasks: readonly PlannedTask[], chance: Chance) {
    this.#store = store;
    this.#runId = runId;
    this.#tasks = tasks;
    this.#chance = chance;
  }

  async run(first: readonly OutboxBatch[]): Promise<void> {
    this.#take(first);
    while (this.#messages.length > 0 || this.#held.length > 0) {
      if (this.#held.length === 0 || (this.#messages.length > 0 && this.#chance() < 0.5)) await this.#claim();
      else await this.#settle();
    }
  }

  #take(outbox: readonly OutboxBatch[]): void {
    this.#messages.push(...outbox.flatMap((batch) => batch.messages));
  }

  #pick<T>(list: T[], max: number): T[] {
    const picked: T[] = [];
    const count = 1 + below(this.#chance, Math.min(max, list.length));
    for (let n = 0; n < count; n += 1) picked.push(...list.splice(below(this.#chance, list.length), 1));
    return picked;
  }

  async #claim(): Promise<void> {
    const messages = this.#pick(this.#messages, 10);
    const known = await this.#store.inRuns(messages.map((message) => message.jobId));
    const fateOf = (id: JobId) => this.#tasks[Number(known.get(id)?.task?.slice(1))]?.fate;
    const no = messages.filter((message) => fateOf(message.jobId) === "branch");
    const { claimed: unasked } = await this.#store.claim(no, { worker: "worker-1", alone: false });
    if (unasked.length > 0) this.early.push("a task was claimed although its condition was not asked");
    await this.#store.skip(no, { reason: "not taken" });
    if (no.length > 0) await this.#resolve();
    const yes = messages.filter((message) => !no.includes(message));
    const { claimed: held } = await this.#store.claim(yes, { worker: "worker-1", alone: false });
    for (const job of held) this.#checkStart(job);
    this.#held.push(...held);
  }

  #checkStart(job: Claimed): void {
    const task = this.#tasks[Number(job.run?.task?.slice(1))];
    if (task === undefined) return;
    const ended = Object.keys(job.run?.outputs ?? {}).length;
    const { rule, least } = joinParts(task.join);
    if (rule === "any" && task.after.length > 0 && ended < least)
      this.early.push(`${task.name} started after ${ended} of ${least}`);
    if (rule === "any") return;
    const missing = task.after.filter((place) => job.run?.outputs[`t${place}`] === undefined);
    if (missing.length > 0)
      this.early.push(`${task.name} started before ${missing.map((place) => `t${place}`).join()}`);
  }

  async #settle(): Promise<void> {
    const ending = this.#pick(this.#held, 10);
    const settled = await this.#store.settle(
      ending.map((job) => {
        const fails = this.#tasks[Number(job.run?.task?.slice(1))]?.fate === "fail";
        return settlementOf(job, fails ? { to: "FAILED", failures: 1, errorCode: "BAD", errorMessage: "no" } : {});
      }),
      settleOptions,
    );
    if (settled.settled.length !== ending.length) this.early.push("a settle was refused");
    this.#take(settled.aftermath.outbox);
    await this.#resolve();
  }

  async #resolve(): Promise<void> {
    for (let round = 0; round < 1_000; round += 1) {
      const resolved = await this.#store.resolve({
        runs: [this.#runId],
        limit: 1 + below(this.#chance, 50),
      });
      this.#take(resolved.aftermath.outbox);
      if (!resolved.more) return;
    }
    throw new Error(`run ${this.#runId} was not resolved after 1,000 rounds`);
  }
}

async function differences(
  store: TestStore,
  runId: RunId,
  tasks: readonly PlannedTask[],
  onFailure: "skip-downstream" | "continue",
): Promise<string[]> {
  const expected = oracle(tasks, onFailure);
  const views = await store.tasks(runId);
  const wrong = tasks.flatMap((task, place) => {
    const view = views.find((one) => one.task === task.name);
    const want = expected[place];
    const same = view?.state === want?.state && view?.notTaken === want?.notTaken;
    const isCounted = joinParts(task.join).rule === "any" || want?.state === "SKIPPED" || view?.predecessors.open === 0;
    if (same && isCounted && view?.blocked === false) return [];
    return [`${task.name}: ${JSON.stringify(view)} instead of ${JSON.stringify(want)}`];
  });
  const run = await store.run(runId);
  const count = (state: string): number => expected.filter((end) => end.state === state).length;
  const figures = { state: runEnd(expected), total: tasks.length, done: tasks.length, ok: count("SUCCESS") };
  const all = { ...figures, failed: count("FAILED"), skipped: count("SKIPPED"), percent: 100, running: 0, ready: 0 };
  for (const [field, value] of Object.entries(all)) {
    const shown = run?.[field as keyof typeof run];
    if (shown !== value) wrong.push(`run.${field} is ${JSON.stringify(shown)} instead of ${value}`);
  }
  if (views.some((view) => !isFinal(view.state))) wrong.push("the run is closed with open tasks");
  return wrong;
}
