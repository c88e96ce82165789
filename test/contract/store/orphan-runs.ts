import type { RunId } from "../../../src/machine/job.ts";
import { expect, test } from "vitest";
import type { TestStore } from "../../support/looks.ts";
import { aJob, claimOne, insertOne, settlementOf, settleOptions, contract, type At } from "./fixture.ts";
import { aRun, aTask, failed } from "./run-fixture.ts";

export const orphanRunsContract = contract({ "a run whose starter ends without sealing it": ends });

function ends({ store, advance }: At): void {
  /** As the rounds of a pass do. */
  const resolveAll = async (store: TestStore) => {
    while ((await store.resolve({ runs: "all", limit: 10 })).more);
  };
  const pagesOf = async (store: TestStore) => {
    const starterId = await insertOne(store, { maxAttempts: 1 });
    const by = await claimOne(store, starterId);
    const { runId } = await store.startRun(aRun({ sealed: false, starterId }));
    const page = { targets: [{ job: aJob({ kind: "push", key: "t-1" }), row: null }], cursor: 1, by };
    await store.addPage(runId, page);
    return { starterId, by, runId };
  };
  const endTargets = async (store: TestStore, runId: RunId) => {
    for (const { jobId } of await store.tasks(runId)) {
      await store.settle([settlementOf(await claimOne(store, jobId))], settleOptions);
    }
  };

  test.each(["FAILED", "CANCELED"] as const)(
    "a starter that ends %s seals its run, which closes FAILED",
    async (end) => {
      const { starterId, by, runId } = await pagesOf(store);
      await resolveAll(store);
      expect(await store.run(runId)).toMatchObject({ state: "RUNNING", sealed: false });
      if (end === "CANCELED") await store.cancel([starterId]);
      else await store.settle([settlementOf(by, failed)], settleOptions);
      await resolveAll(store);
      expect(await store.run(runId)).toMatchObject({ state: "RUNNING", sealed: true });
      await endTargets(store, runId);
      await resolveAll(store);
      expect(await store.run(runId)).toMatchObject({ state: "FAILED", ok: 1, total: 1 });
    },
  );

  test("such a run opens again with its starter's retry, goes on behind its last page and may end DONE", async () => {
    const { starterId, by, runId } = await pagesOf(store);
    await store.settle([settlementOf(by, failed)], settleOptions);
    await endTargets(store, runId);
    await resolveAll(store);
    expect(await store.run(runId)).toMatchObject({ state: "FAILED" });
    await store.retry([starterId]);
    const again = await claimOne(store, starterId);
    const other = await store.startRun(aRun({ sealed: false, starterId: await insertOne(store) }));
    expect(other).toMatchObject({ runId, sealed: true });
    const started = await store.startRun(aRun({ sealed: false, starterId }));
    expect(started).toMatchObject({ runId, created: false, sealed: false, cursor: 1 });
    const page = { targets: [{ job: aJob({ kind: "push", key: "t-2" }), row: null }], cursor: 2, by: again };
    expect(await store.addPage(runId, page)).toMatchObject({ written: true, created: 1 });
    await resolveAll(store);
    expect(await store.run(runId)).toMatchObject({ state: "RUNNING", sealed: false });
    await store.sealRun(runId, {});
    await store.settle([settlementOf(again)], settleOptions);
    const left = await store.tasks(runId, { states: ["QUEUED"] });
    for (const { jobId } of left) await store.settle([settlementOf(await claimOne(store, jobId))], settleOptions);
    await resolveAll(store);
    expect(await store.run(runId)).toMatchObject({ state: "DONE", total: 2, ok: 2 });
  });

  test("the starter of an open run outlives its own retention", async () => {
    const starterId = await insertOne(store, { retentionMs: 1_000 });
    const by = await claimOne(store, starterId);
    const { runId } = await store.startRun(aRun({ tasks: [aTask("a")], starterId }));
    await store.settle([settlementOf(by)], settleOptions);
    await advance(60_000);
    await store.prune({ limit: 10 });
    expect(await store.job(starterId))?.not.toBeNull();
    await endTargets(store, runId);
    await resolveAll(store);
    await store.prune({ limit: 10 });
    expect(await store.job(starterId))?.toBeNull();
  });
}
