import { array, constantFrom, tuple } from "fast-check";
import type { JobId } from "../../src/machine/job.ts";
import { settlementOf } from "../contract/store/fixture.ts";
import { aRun, aTask, failed } from "../contract/store/run-fixture.ts";
import { draft, jobsOf } from "./job-commands.ts";
import { resolved } from "./run-commands.ts";
import { step } from "./step.ts";

const worker = { worker: "w", alone: false } as const;
const message = (jobId: JobId) => ({ jobId, generation: 1, trace: "t" });
const row = draft.map((one) => ({ ...one, delayMs: 0, slotKeys: [] }));

/** As its worker does: the task grows its rows in one page and waits for them, which run and end alike, or are left open. */
const rowsOfTask = tuple(array(row, { maxLength: 3 }), constantFrom({}, {}, failed, null)).map(([drafts, end]) =>
  step(`a task has rows ${JSON.stringify([drafts, end])}`, async (pair) => {
    const known = pair.jobs.length;
    const key = `each ${pair.runs.length}`;
    await pair.both((store) => store.startRun(aRun({ key, tasks: [aTask("rows")] })));
    const by = pair.jobs[known];
    if (by === undefined) return;
    await pair.both((store, id) => store.claim([message(id(by))], worker));
    const keyed = drafts.map((one, n) => ({ ...one, key: `${key} ${n}` }));
    const targets = (await jobsOf(pair, keyed)).map((job) => ({ job, row: null }));
    await pair.both(async (store, id) => {
      const held = { jobId: id(by), attempt: 1 };
      const { runId } = await store.startRun(aRun({ key: `rows of ${key}`, sealed: false, starterId: held.jobId }));
      await store.addPage(runId, { targets, cursor: null, by: held }).catch(() => "refused");
      return await store.transaction(async (tx) => {
        await store.sealRun(runId, { tx });
        return await store.settle([settlementOf(held, { to: "RETRY_WAIT", delayMs: 400_000 })], { ...worker, tx });
      });
    });
    if (end === null) return;
    const rows = pair.jobs.slice(known + 1);
    await pair.both((store, id) => store.claim(rows.map(id).map(message), worker));
    const ends = (ids: readonly JobId[]) => ids.map((jobId) => settlementOf({ jobId, attempt: 1 }, end));
    await pair.both((store, id) => store.settle(ends(rows.map(id)), worker));
    await pair.both(resolved);
  }),
);

export const rowSteps = [rowsOfTask, rowsOfTask];
