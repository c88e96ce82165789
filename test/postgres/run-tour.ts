import { runLimits } from "../../src/machine/run-limits.ts";
import type { JobId, NewJob } from "../../src/machine/job.ts";
import type { NewRun } from "../../src/machine/run.ts";
import { aTask } from "../contract/store/run-fixture.ts";
import { aJob, failure, outboxIds, settlementOf, settleOptions } from "../contract/store/fixture.ts";
import type { TestStore } from "../support/looks.ts";

/** A graph with a narrow and a wide join, one end that is counted afterwards, a page of targets, a cancel and a resume. */
export async function runs(store: TestStore, tag: string): Promise<void> {
  const task = (name: string, after: readonly number[], asks = false) => ({
    task: name,
    after,
    hasCondition: asks,
    join: "all" as const,
    job: aJob({ payload: null }),
  });
  const roots = Array.from({ length: runLimits.wideJoinOver + 1 }, (_, n) => task(`root-${n}`, []));
  const tasks = [...roots, task("narrow", [0]), task("wide", Array.from(roots.keys())), task("asks", [1], true)];
  const [starterId = null] = await insert(store, [aJob()]);
  const run = { ...ofPages, kind: "tour", sealed: true, key: tag, starterId, parentId: null, tasks };
  const { runId, aftermath } = await store.startRun(run);
  await store.startRun(run);
  const ids = outboxIds(aftermath.outbox);
  const held = [];
  const next = [];
  for (let from = 0; from < ids.length; from += 10) {
    const some = await claim(store, ids.slice(from, from + 10));
    const settlements = some.map((job) => settlementOf(job));
    held.push(...some);
    next.push(...(await store.settle(settlements, settleOptions)).aftermath.outbox);
  }
  await store.inRuns(held.map((job) => job.jobId));
  await store.skip(next[0]?.messages.slice(-1) ?? [], { reason: "not taken" });
  await store.resolve({ runs: [runId], limit: 10 });
  const [other] = await claim(store, next[0]?.messages.slice(0, 1).map((message) => message.jobId) ?? []);
  if (other !== undefined) await store.settle([settlementOf(other, { ...failure, to: "FAILED" })], settleOptions);
  for (let more = true; more;) ({ more } = await store.resolve({ runs: [runId], limit: 100 }));
  await store.run(runId);
  await store.runs({ kinds: ["tour"], limit: 10 });
  await store.runs({ states: ["RUNNING"], parent: runId, limit: 10 });
  await store.tasks(runId, { limit: 10 });
  await store.tasks(runId, { states: ["FAILED"], limit: 10 });
  await store.resumeRun(runId, {});
  await store.cancelRun(runId);
  await store.cancelingRuns(10);
  await store.cancelPage(runId, { limit: 1_000 });
  await store.startRun({ ...run, key: `${tag}-empty`, tasks: [] });
  const waiting = { ...task("approved", []), wait: { ms: 60_000, forSignal: true } };
  const waits = await store.startRun({ ...run, key: `${tag}-waits`, tasks: [waiting] });
  await store.signal(waits.runId, "approved", { payload: null });
  const pages = await store.startRun({ ...run, key: `${tag}-pages`, sealed: false, tasks: [] });
  const [writer] = await claim(store, await insert(store, [aJob()]));
  if (writer === undefined) throw new Error("the job that writes pages was claimed");
  const targets = [{ job: aJob({ key: `${tag}-target` }), row: { id: 1 } }];
  await store.addPage(pages.runId, { targets, cursor: 1, by: writer });
  await store.sealRun(pages.runId, {});
  const orphan = { ...run, key: `${tag}-orphan`, starterId: writer.jobId, sealed: false, tasks: [] };
  await store.startRun(orphan);
  await store.startRun(orphan);
  await store.cancel([writer.jobId]);
  for (let pass = 0; pass < 2; pass += 1) await store.resolve({ runs: "all", limit: 10 });
  await rows(store, { ...run, key: `${tag}-rows`, tasks: [task("bill", [])] });
}

/** A run that goes on by a graph that has lost a task and has a new one. */
export async function newerGraph(store: TestStore, tag: string): Promise<void> {
  const task = (name: string, after: readonly number[]) => aTask(name, after, { job: aJob({ payload: null }) });
  const run = { ...ofPages, kind: "tour", key: `${tag}-newer`, sealed: true, starterId: null, parentId: null };
  const { runId } = await store.startRun({ ...run, tasks: [task("load", []), task("bill", [0]), task("gone", [1])] });
  await store.resumeRun(runId, {
    newer: { ...run, version: 2, tasks: [task("load", []), task("bill", [0]), task("mail", [1])] },
  });
}

/** A task with a job for each row: its run is canceled with it, and runs again with it. */
async function rows(store: TestStore, run: NewRun): Promise<void> {
  const { runId, aftermath } = await store.startRun(run);
  const [bill] = await claim(store, outboxIds(aftermath.outbox));
  if (bill === undefined) throw new Error("the task of rows was claimed");
  const own = { ...run, key: `${run.key}-own`, starterId: bill.jobId, sealed: false, tasks: [] };
  const { runId: ofRows } = await store.startRun(own);
  for (const id of [runId, ofRows]) {
    await store.cancelRun(id);
    await store.cancelPage(id, { limit: 10 });
    await store.resolve({ runs: [runId, ofRows], limit: 10 });
  }
  await store.runResult(ofRows);
  await store.runOutputs(ofRows, { after: null, limit: 10 });
  await store.resumeRun(runId, {});
}

const ends = { onFailure: "stop", tolerate: 0, continuation: null } as const;
export const ofPages = { ...ends, version: 1, shape: null, input: null, retentionMs: 1, trace: "" } as const;

export async function insert(store: TestStore, jobs: readonly NewJob[]): Promise<JobId[]> {
  const { results, aftermath } = await store.insert(jobs);
  await store.confirm(aftermath.outbox.map(({ id }) => ({ id, failed: [] })));
  return results.map((result) => result.id);
}

export const claim = async (store: TestStore, ids: readonly JobId[], alone = false) => {
  const looked = await store.peek(ids);
  const messages = looked.map(({ jobId, generation }) => ({ jobId, generation, trace: "" }));
  return (await store.claim(messages, { worker: "worker-1", alone })).claimed;
};
