import { expect, test } from "vitest";
import type { JobId } from "../../../src/machine/job.ts";
import { contractLimits } from "../../../src/machine/contract-limits.ts";
import type { TestStore } from "../../support/looks.ts";
import type { PlannedOccurrence } from "../../../src/machine/schedule.ts";
import { claimOne, insertOne, minute, running, settleOne, contract, type At } from "./fixture.ts";
import { aSpec, occurrenceAt, planned } from "./schedule-fixture.ts";

export const pruneContract = contract({ prune: [prune, pruneOccurrences] });

function prune({ store, advance }: At): void {
  const day = 86_400_000;

  test("removes jobs that finished longer ago than their retention, and frees their keys", async () => {
    const old = await running(store, { retentionMs: 7 * day, key: "k" });
    const kept = await running(store, { retentionMs: 30 * day });
    await settleOne(store, old);
    await settleOne(store, kept);
    expect((await store.prune({ limit: 10 })).jobs).toBe(0);
    await advance(8 * day);
    expect((await store.prune({ limit: 10 })).jobs).toBe(1);
    expect(await store.job(old.jobId))?.toBeNull();
    expect(await store.job(kept.jobId))?.not.toBeNull();
    expect(await insertOne(store, { key: "k" })).not.toBe(old.jobId);
  });

  test("never removes a job that is not finished, and no more than the limit", async () => {
    const waiting = await insertOne(store, { retentionMs: 7 * day });
    for (let i = 0; i < 3; i += 1) await settleOne(store, await running(store, { retentionMs: 7 * day }));
    await advance(60 * day);
    expect((await store.prune({ limit: 2 })).jobs).toBe(2);
    expect((await store.prune({ limit: 2 })).jobs).toBe(1);
    expect(await store.job(waiting))?.not.toBeNull();
  });
}

function pruneOccurrences({ store, advance }: At): void {
  const day = 86_400_000;
  const history = contractLimits.historyMs;
  const plan = async (store: TestStore, times: readonly (Partial<PlannedOccurrence> & { in: number })[]) => {
    const now = Math.ceil(await store.now());
    const occurrences = times.map(({ in: ms, ...over }) => occurrenceAt(now + ms, over));
    await planned(store, occurrences, { decidedUntil: now + minute });
  };
  const skipped = { outcome: "SKIPPED", reason: "misfire", job: null } as const;

  test("removes what was decided and due before the history's window, page by page, and the ledger begins after it", async () => {
    await store.installSchedules([aSpec()]);
    await plan(store, [
      { in: -2 * minute, ...skipped },
      { in: -minute, ...skipped },
      { in: 0, ...skipped },
    ]);
    await advance(history - day);
    expect((await store.prune({ limit: 10 })).occurrences).toBe(0);
    await advance(2 * day);
    const last = (await store.occurrences("every-minute"))[0]?.nominalAt ?? 0;
    expect((await store.prune({ limit: 2 })).occurrences).toBe(2);
    expect((await store.prune({ limit: 2 })).occurrences).toBe(1);
    expect(await store.occurrences("every-minute")).toEqual([]);
    expect((await store.scheduleFacts("every-minute"))?.ledgerFrom).toBe(last + 1);
  });

  test("keeps what is PLANNED, whose job is not finished, or that was decided only lately", async () => {
    await store.installSchedules([aSpec()]);
    await plan(store, [{ in: -2 * minute }, { in: -minute }]);
    const [, waiting] = (await store.occurrences("every-minute")).toReversed();
    await claimOne(store, waiting?.jobId ?? ("" as JobId));
    await advance(history + 2 * day);
    await plan(store, [{ in: -history - day, ...skipped }]);
    expect((await store.prune({ limit: 10 })).occurrences).toBe(0);
    const outcomes = (await store.occurrences("every-minute")).map((row) => row.outcome);
    expect(outcomes.toSorted()).toEqual(["FIRED", "PLANNED", "SKIPPED"]);
  });

  test("removes the ledger of a schedule that was deleted too", async () => {
    await store.installSchedules([aSpec()]);
    await plan(store, [{ in: 0, ...skipped }]);
    await store.installSchedules([], { apps: [aSpec().app] });
    await advance(history + 2 * day);
    expect((await store.prune({ limit: 10 })).occurrences).toBe(1);
  });
}
