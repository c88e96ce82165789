import { expect, test } from "vitest";
import { contractLimits } from "../../src/machine/contract-limits.ts";
import { aTask, workbench } from "../contract/store/run-fixture.ts";
import { aSpec, occurrenceAt, planned } from "../contract/store/schedule-fixture.ts";
import { testDatabase, otherSession } from "../support/database.ts";
import { eachTest } from "../support/each-test.ts";
import { untilWaiting } from "./race.ts";

const db = eachTest(() => testDatabase({ connections: 4 }));
const { store, pool, clock } = db;

test("a time that is planned again while its pruning waits stays in the ledger", async () => {
  await store.installSchedules([aSpec()]);
  const now = await store.now();
  const skipped = { outcome: "SKIPPED", reason: "paused", job: null } as const;
  await planned(store, [occurrenceAt(now - 2, skipped), occurrenceAt(now - 1, { ...skipped, localTime: "again" })]);
  await clock.advance(contractLimits.historyMs + 1_000);
  const holder = await otherSession(pool);
  await holder.query(
    "update belfry.occurrence set outcome = 'PLANNED', reason = null, decided_at = null where local_time = 'again'",
  );
  const pruning = store.prune({ limit: 10 });
  await untilWaiting(db);
  await holder.query("commit");
  expect((await pruning).occurrences).toBe(1);
  expect(await store.occurrences("every-minute")).toMatchObject([{ localTime: "again", outcome: "PLANNED" }]);
});

test("a run whose row another session holds, as a resume does, keeps its jobs until it is free", async () => {
  const { runId, end } = await workbench(store, { tasks: [aTask("a")] });
  await end("a");
  await clock.advance(contractLimits.retentionMsDefault + 1_000);
  const holder = await otherSession(pool);
  await holder.query("select from belfry.run where id = $1 for no key update", [runId]);
  expect((await store.prune({ limit: 10 })).jobs).toBe(0);
  await holder.query("commit");
  expect((await store.prune({ limit: 10 })).jobs).toBe(1);
});
