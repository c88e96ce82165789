import { array, constantFrom, tuple, type Arbitrary } from "fast-check";
import { settlementOf } from "../contract/store/fixture.ts";
import { aRun, aTask, failed } from "../contract/store/run-fixture.ts";
import { draft, jobsOf } from "./job-commands.ts";
import type { Pair, Twin } from "./pair.ts";
import { resolved } from "./run-commands.ts";
import { step, type Step } from "./step.ts";

const worker = { worker: "w", alone: false } as const;
const claim = (pair: Pair, twins: readonly Twin[]): Promise<void> =>
  pair.both((store, id) =>
    store.claim(
      twins.map((twin) => ({ jobId: id(twin), generation: 1, trace: "t" })),
      worker,
    ),
  );

const row = draft.map((one) => ({ ...one, delayMs: 0, slotKeys: [] }));

/** As its worker does: the task grows its rows in one page and waits for them, which run and end alike. */
export const rowsOfTask: Arbitrary<Step> = tuple(array(row, { maxLength: 3 }), constantFrom({}, {}, failed)).map(
  ([drafts, end]) =>
    step(`a task has rows ${JSON.stringify([drafts, end])}`, async (pair) => {
      const known = pair.jobs.length;
      const key = `each ${pair.runs.length}`;
      await pair.both((store) => store.startRun(aRun({ key, tasks: [aTask("rows")] })));
      const [by] = pair.jobs.slice(known);
      if (by === undefined) return;
      await claim(pair, [by]);
      const targets = (
        await jobsOf(
          pair,
          drafts.map((one, n) => ({ ...one, key: `${key} ${n}` })),
        )
      ).map((job) => ({ job, row: null }));
      await pair.both(async (store, id) => {
        const held = { jobId: id(by), attempt: 1 };
        const { runId } = await store.startRun(aRun({ key: `rows of ${key}`, sealed: false, starterId: held.jobId }));
        await store.addPage(runId, { targets, cursor: null, by: held }).catch(() => "refused");
        return await store.transaction(async (tx) => {
          await store.sealRun(runId, { tx });
          const waits = settlementOf(held, { to: "RETRY_WAIT", delayMs: 400_000 });
          return await store.settle([waits], { ...worker, tx });
        });
      });
      const rows = pair.jobs.slice(known + 1);
      await claim(pair, rows);
      const ends = (id: (twin: Twin) => Twin["real"]) =>
        rows.map((twin) => settlementOf({ jobId: id(twin), attempt: 1 }, end));
      await pair.both((store, id) => store.settle(ends(id), worker));
      await pair.both(resolved);
    }),
);
