import { batchRuleOf, callBatch } from "../define/batch.ts";
import { chunksOf } from "../machine/chunks.ts";
import type { BatchOf, Json } from "../machine/job.ts";
import { orWarn } from "../machine/or-warn.ts";
import { noAftermath } from "../machine/outbox.ts";
import type { Claimed } from "../machine/store.ts";
import { afterCommit } from "./after-commit.ts";
import { claimBatch } from "./claim.ts";
import { finish, type HandlerEnd, measureStart, prepareAttempt } from "./handler.ts";
import { callHandler, contextOf, type End } from "./invocation.ts";
import type { InvocationScope } from "./invocation-scope.ts";
import type { Hold } from "./lease-keeper.ts";
import { endOne, type Ended, type RunOptions } from "./run-one.ts";
import { attemptSpan } from "./spans.ts";
import type { WorkerScope } from "./worker-scope.ts";

/** Runs started jobs, each with those of its kind and batch key that wait. */
export async function runBatches(
  scope: WorkerScope,
  started: readonly Claimed[],
  options: RunOptions,
): Promise<readonly Ended[]> {
  const calls = options.alone ? started.map((job) => [job]) : await takeAlong(scope, started);
  const run = (jobs: readonly Claimed[]) => runTogether(scope, jobs, options);
  return (await Promise.all(calls.map(run))).flat();
}

/**
 * Others that wait become due and are claimed as any job: by generation, under a lease, by all gates. Those that another worker had first,
 * or that a gate holds, are left out. Without an answer the started jobs run by themselves.
 */
async function takeAlong(scope: WorkerScope, started: readonly Claimed[]): Promise<readonly (readonly Claimed[])[]> {
  const { ports, settler } = scope;
  const asked = started.map(({ jobId, kind }) => ({ jobId, ...ruleOf(scope, kind) }));
  const gather = () => ports.store.gather(asked);
  const warning = "others that wait were not taken along";
  const answer = await orWarn(ports.log, gather, warning, { jobs: started.length });
  const { jobs: gathered, outbox } = answer ?? { jobs: [], outbox: [] };
  await ports.crashPoint?.("batch.gathered");
  const others = gathered.filter(({ isStarted }) => !isStarted);
  const { running } = await claimBatch(
    scope,
    others.map((message) => ({ messageId: "", message })),
    false,
  );
  settler.expect(running.length);
  const members = new Map(gathered.map((job) => [job.jobId, job]));
  const batches = [...Map.groupBy([...started, ...running], ({ jobId }) => members.get(jobId)?.of ?? jobId).values()];
  const full = batches.flatMap(([first, ...more]): BatchOf[] => {
    const of = first === undefined ? undefined : members.get(first.jobId);
    if (of === undefined || (more.length + 1) % ruleOf(scope, of.kind).max !== 0) return [];
    return [{ ...ruleOf(scope, of.kind), kind: of.kind, key: of.key }];
  });
  await afterCommit(ports, { ...noAftermath, outbox, batches: full });
  return batches.flatMap((jobs) => chunksOf(jobs.toSorted(byId), ruleOf(scope, jobs[0]?.kind ?? "").max));
}

const byId = ({ jobId: a }: Claimed, { jobId: b }: Claimed): number => a.length - b.length || (a < b ? -1 : 1);

const ruleOf = ({ registry }: WorkerScope, kind: string): Pick<BatchOf, "max" | "waitMs"> => {
  const { max = 1, waitMs = 0 } = batchRuleOf(registry.jobs.get(kind)) ?? {};
  return { max, waitMs };
};

/** One call, under one timeout and one signal; then each job is settled by its own end. */
async function runTogether(
  scope: WorkerScope,
  claimed: readonly Claimed[],
  options: RunOptions,
): Promise<readonly Ended[]> {
  const calling =
    claimed[0] === undefined ? null : attemptSpan(scope.ports.tracing, claimed[0], () => call(scope, claimed, options));
  const ends = claimed.map((job, at) =>
    endOne(scope, job, options, async () => {
      const end = (await calling)?.[at] ?? { is: "lost" };
      scope.circuits?.count(job, end);
      return end;
    }),
  );
  return await Promise.all(ends);
}

/** @returns how each of these jobs ended. */
async function call(
  worker: WorkerScope,
  claimed: readonly Claimed[],
  { remainingMs }: RunOptions,
): Promise<readonly HandlerEnd[]> {
  const { leases } = worker;
  const prepared = await Promise.all(claimed.map((job) => prepareAttempt(worker, job)));
  const ready = prepared.flatMap((each) => (each.is === "ready" ? { ...each, hold: leases.holdOf(each.job) } : []));
  const [first] = ready;
  const body = first?.definition.body;
  if (first === undefined || body?.is !== "batch") return prepared.flatMap((each) => (each.is === "ready" ? [] : each));
  const { definition } = first;
  const hold = holdAll(ready.map((each) => each.hold));
  for (const { job } of ready) measureStart(worker, job, definition);
  const jobs = ready.map(({ job: { jobId, key, attempt }, payload }) => ({ id: jobId, key, payload, attempt }));
  const run = (scope: InvocationScope) => callBatch({ id: definition.id, body }, jobs, contextOf(scope));
  return await callHandler({ worker, job: first.job, definition, hold, remainingMs }, run, async (scope, end) => {
    const own = await Promise.all(ready.map((each, at) => finish({ ...scope, ...each }, endOf(end, at))));
    return prepared.map((each) => (each.is === "ready" ? (own.shift() ?? { is: "lost" }) : each));
  });
}

/** Of one job, by that of its call. */
function endOf(end: End<readonly PromiseSettledResult<Json | void>[]>, at: number): End {
  if ("error" in end) return end;
  const own = end.value[at];
  return own?.status === "rejected" ? { error: own.reason } : { value: own?.value };
}

/** Interrupted when all of them are: a job that was canceled leaves the others to go on. */
function holdAll(holds: readonly Hold[]): Hold {
  const all = new AbortController();
  const isOver = (): boolean => holds.every(({ interruption }) => interruption !== null);
  const whole: Hold = {
    get interruption() {
      return isOver() ? (holds.at(-1)?.interruption ?? null) : null;
    },
    signal: all.signal,
    leave: null,
    endAfter: (ms, why) => {
      for (const hold of holds) hold.endAfter(ms, why);
    },
  };
  for (const hold of holds) {
    hold.leave = () => isOver() && whole.leave?.();
    hold.signal.addEventListener("abort", () => isOver() && all.abort(hold.interruption));
  }
  if (isOver()) all.abort(whole.interruption);
  return whole;
}
