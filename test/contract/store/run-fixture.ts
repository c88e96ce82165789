import type { RunId } from "../../../src/machine/job.ts";
import { contractLimits } from "../../../src/machine/contract-limits.ts";
import type { Claimed, Settlement } from "../../../src/machine/store.ts";
import type { TestStore } from "../../support/looks.ts";
import type { OutboxBatch, Message } from "../../../src/machine/outbox.ts";
import type { NewRun, NewTask } from "../../../src/machine/run.ts";
import { aJob, settleAll } from "./fixture.ts";

/** A task that starts after the tasks at these places of the list. */
export const aTask = (name: string, after: readonly number[] = [], over: Partial<NewTask> = {}): NewTask => ({
  task: name,
  after,
  join: "all",
  hasCondition: false,
  job: aJob({ kind: "settlement.task", payload: null }),
  ...over,
});

export const aRun = (over: Partial<NewRun> = {}): NewRun => ({
  kind: "settlement",
  key: "2031-05-06",
  version: 3,
  shape: null,
  input: { day: "2031-05-06" },
  onFailure: "skip-downstream",
  tolerate: 0,
  continuation: null,
  retentionMs: contractLimits.retentionMsDefault,
  trace: "trace-1",
  starterId: null,
  parentId: null,
  sealed: true,
  tasks: [],
  ...over,
});

/** One run with the messages that are out, worked by its task names. */
export interface Workbench {
  readonly runId: RunId;
  /** Claims the message of one task. */
  claim(task: string): Promise<Claimed | null>;
  /** Claims and settles one task, then resolves until nothing is left. */
  end(task: string, over?: Partial<Settlement>): Promise<void>;
  /** The same of several, in one call each. */
  endAll(tasks: readonly string[], over?: Partial<Settlement>): Promise<void>;
  resolve(): Promise<void>;
  /** `name: STATE` of every task. */
  states(): Promise<Readonly<Record<string, string>>>;
  take(outbox: readonly OutboxBatch[]): void;
}

export const failed = { to: "FAILED", failures: 1, errorCode: "BAD", errorMessage: "no" } as const;

/** Starts a run and holds what it hands off. */
export async function workbench(store: TestStore, run: Partial<NewRun>): Promise<Workbench> {
  const { runId, aftermath } = await store.startRun(aRun(run));
  const messages = new Map<string, Message>();
  const take = (handed: readonly OutboxBatch[]): void => {
    for (const batch of handed) for (const message of batch.messages) messages.set(message.jobId, message);
  };
  take(aftermath.outbox);
  const views = () => store.tasks(runId);
  const claimAll = async (tasks: readonly string[]): Promise<readonly Claimed[]> => {
    const asked = (await views()).filter(({ task }) => tasks.includes(task ?? ""));
    const out = asked.flatMap(({ jobId }) => messages.get(jobId) ?? []);
    return out.length === 0 ? [] : (await store.claim(out, { worker: "worker-1", alone: false })).claimed;
  };
  const resolve = async (): Promise<void> => {
    for (let more = true; more;) {
      const resolved = await store.resolve({ runs: [runId], limit: 100 });
      take(resolved.aftermath.outbox);
      more = resolved.more && resolved.steps > 0;
    }
  };
  const endAll = async (tasks: readonly string[], over: Partial<Settlement> = {}): Promise<void> => {
    if (tasks.length === 0) return;
    const jobs = await claimAll(tasks);
    const running = jobs.filter(({ state }) => state === "RUNNING");
    if (running.length < tasks.length)
      throw new Error(`of ${tasks.join(", ")} these were claimed: ${JSON.stringify(jobs)}`);
    const settled = await settleAll(store, running, over);
    take(settled.aftermath.outbox);
    await resolve();
  };
  return {
    runId,
    take,
    claim: async (task) => (await claimAll([task]))[0] ?? null,
    resolve,
    endAll,
    end: (task, over) => endAll([task], over),
    states: async () => Object.fromEntries((await views()).map((view) => [view.task ?? view.key ?? "", view.state])),
  };
}
