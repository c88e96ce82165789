import * as fc from "fast-check";
import { defineApp, defineJob, defineSchedule } from "belfry";
import { createTestSystem, type TestSystem } from "belfry/testing";
import { expect, inject, onTestFinished, test } from "vitest";
import type { ScheduleDefinition } from "../../src/define/definition.ts";
import { type ObjectiveStand, readObjectives } from "../../src/insight/objectives.ts";
import type { Database } from "../../src/insight/sql-query.ts";
import type { JobId } from "../../src/machine/job.ts";
import { createPostgresStore } from "../../src/postgres/store.ts";
import { type Connections, openConnections } from "../../src/postgres/connect.ts";
import { createDatabase } from "../../src/postgres/database.ts";
import { testClock } from "../../src/postgres/test-clock.ts";
import { testDatabase } from "../support/database.ts";

const work = defineJob({ id: "work", retry: { maxAttempts: 1 }, run() {} });
const minutely = defineSchedule({
  id: "minutely",
  every: "1m",
  run: work,
  objective: { onTime: "10s", share: 0.99 },
});
const closing = defineSchedule({
  id: "closing",
  every: "1m",
  run: work,
  objective: { onTime: "5s", endsWithin: "40s", share: 0.9 },
});
const minuteMs = 60_000;
const at = "2031-01-01T00:00:00Z";

const connected = (url: string): Connections => {
  const connections = openConnections({ url, applicationName: "objectives", connections: 2, txConnections: 1 });
  onTestFinished(() => connections.close());
  return connections;
};
const opened = (url: string): Database => createDatabase(connected(url), { checksRows: true });

/** Minutes go by, and which of them each window burns at. */
async function minutes(
  { from, count, pass }: { from: number; count: number; pass: () => Promise<unknown> },
  insight: Database,
): Promise<{ fast: number[]; slow: number[]; last: ObjectiveStand }> {
  const rung: { fast: number[]; slow: number[] } = { fast: [], slow: [] };
  let last: ObjectiveStand | undefined;
  for (let minute = from + 1; minute <= from + count; minute += 1) {
    await pass();
    const { objectives } = await readObjectives(insight, { isWhole: minute === from + count });
    last = objectives[0];
    for (const window of ["fast", "slow"] as const) if (last?.[window].burns === true) rung[window].push(minute - from);
  }
  if (last === undefined) throw new Error("no schedule promises anything");
  return { ...rung, last };
}

const appOf = (schedule: ScheduleDefinition) => defineApp({ name: "shop", jobs: [work], schedules: [schedule] });

/** A system whose schedule has had six good hours. */
async function open(schedule: ScheduleDefinition) {
  const system = await createTestSystem({ apps: [appOf(schedule)], at, databaseUrl: inject("postgresUrl") });
  await system.database.query(
    `insert into belfry.occurrence (schedule_id, local_time, fold, timezone, nominal_at, outcome, lateness_ms, schedule_version,
       planned_at, decided_at)
     select $2, 'before ' || n, 0, 'UTC', at, 'FIRED', 0, 1, at, at
     from generate_series(0, 359) n cross join lateral (select $1::timestamptz - n * interval '1 minute' as at) t`,
    [at, minutely.id],
  );
  // Half a minute later, so that each time is judged in its own minute.
  await system.advance("30s");
  return system;
}

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, place) => from + place);

/** Time goes by, and nothing runs: as with no scheduler and no worker. */
const silence = ({ database }: TestSystem) => testClock(database).advance(minuteMs);

test("an hour without a scheduler burns from the ninth missed time on, and until five minutes after the last", async () => {
  await using system = await open(minutely);
  const insight = opened(system.databaseUrl);
  const quiet = await minutes({ from: 0, count: 60, pass: () => silence(system) }, insight);
  // 9 of 60 are 15 times what may miss, 8 are 13.3; of 360 it is 21 that are more than 5.6 times.
  expect(quiet.fast).toEqual(numbers(9, 60));
  expect(quiet.slow).toEqual(numbers(21, 60));
  expect(quiet.last).toMatchObject({ schedule: "minutely", times: 420, missed: 60 });
  const back = await minutes({ from: 60, count: 6, pass: () => system.advance("1m") }, insight);
  // Until of the last five times all are good; of the last thirty all but one have to be.
  expect(back.fast).toEqual(numbers(1, 4));
  expect(back.slow).toEqual(numbers(1, 6));
  // One job caught up the newest missed time, too late; the others are COALESCED.
  expect(back.last).toMatchObject({ times: 426, missed: 60 });
});

test("a job that fails or ends late misses, as one that a later time replaced; what a person paused, canceled or backfilled counts for nothing", async () => {
  await using system = await open(closing);
  const insight = opened(system.databaseUrl);
  const standing = async () => {
    const { objectives } = await readObjectives(insight, { isWhole: true });
    return objectives.map(({ times, missed }) => [times, missed]);
  };
  const change = (text: string) => system.database.query(text);
  system.fail(work, new Error("down"), 2);
  await system.advance("4m");
  // The fourth is 30 s old, and may take 40.
  expect(await standing()).toEqual([[3, 2]]);
  await change("update belfry.schedule set paused_until = 'infinity', paused_at = belfry.now(), paused_by = 'ada'");
  await system.advance("2m");
  const { objectives } = await readObjectives(insight, { isWhole: true });
  expect(objectives).toMatchObject([
    { schedule: "closing", times: 4, missed: 2, left: expect.closeTo(1 - 2 / 0.4, 6) },
  ]);
  const last = "(select max(id) from belfry.job where state = 'SUCCESS')";
  const end = (late: string) =>
    change(`update belfry.job set finished_at = scheduled_for + interval '${late}' where id = ${last}`);
  await end("40 s");
  expect(await standing()).toEqual([[4, 2]]);
  await end("40.001 s");
  expect(await standing()).toEqual([[4, 3]]);
  await change(
    `insert into belfry.run (kind, key, version, state, starter_id, canceled_by, created_at, finished_at)
     select 'k', 'k', 1, 'CANCELED', ${last}, 'schedule closing, its time 2031-01-01T00:05:00.000Z', belfry.now(), belfry.now()`,
  );
  expect(await standing()).toEqual([[4, 3]]);
  await change("update belfry.run set canceled_by = 'ada'");
  expect(await standing()).toEqual([[3, 2]]);
  await change(
    "update belfry.job set slot_keys = array['backfill:closing'] where id = (select min(id) from belfry.job)",
  );
  expect(await standing()).toEqual([[2, 1]]);
});

test("a time that was skipped misses, whatever became of its job; one whose job a person canceled counts for nothing", async () => {
  const jobs = ["canceled", "skipping"].map((id) =>
    defineJob({ id, retry: { maxAttempts: 2, backoff: "fixed", base: "1h" }, run() {} }),
  );
  const schedules = jobs.map((run) =>
    defineSchedule({
      id: run.id,
      every: "1m",
      run,
      ...(run.id === "skipping" ? { startDeadline: "5s" as const } : {}),
      objective: { endsWithin: "10s", share: 0.9 },
    }),
  );
  const app = defineApp({ name: "shop", jobs, schedules });
  await using system = await createTestSystem({ apps: [app], at, databaseUrl: inject("postgresUrl") });
  const insight = opened(system.databaseUrl);
  const [first] = jobs;
  if (first !== undefined) system.fail(first, new Error("down"));
  await system.advance("30s");
  await system.advance("4m");
  const { rows } = await system.database.query<{ id: JobId }>(
    "select id from belfry.job where state = 'RETRY_WAIT' and kind = 'canceled'",
  );
  expect(rows).toHaveLength(1);
  await createPostgresStore(connected(system.databaseUrl), {}).cancel(rows.map(({ id }) => id));
  for (const _ of numbers(1, 2)) await silence(system);
  await system.drain();
  const expired =
    "select from belfry.occurrence o join belfry.job j on j.id = o.job_id where o.reason = 'expired' and j.state = 'SKIPPED'";
  expect((await system.database.query(expired)).rowCount).toBe(2);
  const { objectives } = await readObjectives(insight, { isWhole: true });
  expect(objectives).toMatchObject([
    { schedule: "canceled", times: 5, missed: 2 },
    { schedule: "skipping", times: 6, missed: 2 },
  ]);
});

const overMs = 24 * 3_600_000;
const kept = {
  good: { outcome: "FIRED", lateness: 0 },
  late: { outcome: "FIRED", lateness: 31_000 },
  planned: { outcome: "PLANNED" },
  coalesced: { outcome: "COALESCED" },
  missed: { outcome: "SKIPPED", reason: "misfire" },
  paused: { outcome: "SKIPPED", reason: "paused" },
  excluded: { outcome: "SKIPPED", reason: "excluded" },
} as const;
type Kept = keyof typeof kept;
const isCounted = (each: Kept): boolean => each !== "paused" && each !== "excluded";
const hasMissed = (each: Kept): boolean => each !== "good" && isCounted(each);

const histories = fc.array(
  fc.record({
    // At the edges too: a time is judged half a minute after it, and a day long.
    ageSeconds: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 1, max: 90_000 }) }, fc.constantFrom(30, 86_430)),
    spreadSeconds: fc.option(fc.integer({ min: 1, max: 600 }), { nil: null }),
    is: fc.constantFrom(...(Object.keys(kept) as Kept[])),
  }),
  { minLength: 1, maxLength: 120 },
);

test("each window counts what is in it: random ledgers against a count by hand", async () => {
  const { pool, insight, clock } = await testDatabase();
  await clock.set(0);
  const spec = { ...minutely.spec("test", "promises"), spread: { withinMs: 600_000, offsetMs: 0 } };
  const objective = { onTimeMs: 30_000, endsWithinMs: null, share: 0.9, overMs };
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      await pool.query("delete from belfry.occurrence; delete from belfry.schedule");
      await pool.query(
        `insert into belfry.schedule (id, app, version, source, spec, enabled, decided_until, ledger_from, created_at, updated_at)
         select id, 'promises', 1, 'code', $1, id <> 'off', belfry.now(), belfry.now(), belfry.now(), belfry.now()
         from unnest(array['minutely', 'off']) id`,
        [{ ...spec, objective }],
      );
      const times = [...new Map(history.map((each) => [each.ageSeconds + (each.spreadSeconds ?? 0), each])).values()];
      await pool.query(
        `insert into belfry.occurrence (schedule_id, local_time, fold, timezone, nominal_at, effective_at, outcome, reason,
           lateness_ms, schedule_version, planned_at, decided_at)
         select 'minutely', place, 0, 'UTC', at, at + "spreadSeconds" * interval '1 second', outcome::belfry.occurrence_outcome,
           reason, lateness, 1, at, case when outcome <> 'PLANNED' then at end
         from json_to_recordset($1) t (place text, "ageSeconds" int, "spreadSeconds" int, outcome text, reason text, lateness bigint)
         cross join lateral (select belfry.now() - ("ageSeconds" + coalesce("spreadSeconds", 0)) * interval '1 second' as at) a`,
        [JSON.stringify(times.map((each, place) => ({ place, ...each, ...kept[each.is] })))],
      );
      const { objectives } = await readObjectives(insight, { isWhole: true });
      expect(objectives).toMatchObject([byHand(times)]);
    }),
    { numRuns: 25, endOnFailure: true },
  );
});

/**
 * Ages are those of the due times: what is promised is half a minute, so a time counts half a minute after that. The newest is so by
 * its nominal time, which a spread that a release changed may have put behind an older one.
 */
function byHand(times: readonly { ageSeconds: number; spreadSeconds: number | null; is: Kept }[]) {
  const judged = times.filter(({ is, ageSeconds }) => isCounted(is) && ageSeconds >= 30);
  const within = (ms: number) => judged.filter(({ ageSeconds }) => (ageSeconds - 30) * 1_000 < ms);
  const nominalAge = ({ ageSeconds, spreadSeconds }: (typeof judged)[number]) => ageSeconds + (spreadSeconds ?? 0);
  const newest = judged.toSorted((a, b) => nominalAge(a) - nominalAge(b))[0];
  const rate = (ms: number): number => {
    const inside = within(ms);
    const missed = inside.filter(({ is }) => hasMissed(is)).length;
    return (inside.length === 0 ? Number(newest !== undefined && hasMissed(newest.is)) : missed / inside.length) / 0.1;
  };
  const near = (value: number) => expect.closeTo(value, 6);
  const window = (ms: number, from: number) => ({
    rate: near(rate(ms)),
    recentRate: near(rate(ms / 12)),
    burns: rate(ms) >= from - 1e-9 && rate(ms / 12) >= from - 1e-9,
  });
  const counted = within(overMs).length;
  const missed = within(overMs).filter(({ is }) => hasMissed(is)).length;
  return {
    times: counted,
    missed,
    left: near(counted === 0 ? 1 : 1 - missed / (counted * 0.1)),
    // Ten is all that nine of ten may reach.
    fast: window(overMs / 672, 10),
    slow: window(overMs / 112, 5.6),
  };
}
