/** A database may give its sessions any zone: `alter database ... set timezone`. Days and hours of the tables are those of UTC. */
import { expect, test } from "vitest";
import { postgresLimits } from "../../src/postgres/postgres-limits.ts";
import { contractLimits } from "../../src/machine/contract-limits.ts";
import { dayMs } from "../../src/machine/units.ts";
import { running, settleOne } from "../contract/store/fixture.ts";
import { until } from "../local/until.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";

const noonMs = dayMs / 2;
let db: TestDatabase;

/** Before the store opens its first session. */
async function inZone(zone: string): Promise<void> {
  db = await testDatabase({ own: true });
  await db.pool.query(`alter database ${new URL(db.url).pathname.slice(1)} set timezone to '${zone}'`);
}

const goTo = async (at: number): Promise<void> => db.clock.advance(at - (await db.store.now()));
const nameOf = (at: number): string => new Date(at).toISOString().slice(0, 10).replaceAll("-", "");

async function days(): Promise<readonly string[]> {
  const { rows } = await db.pool.query<{ day: string }>(
    "select right(relname, 8) as day from pg_class where relname ~ '^event_[0-9]{8}$' and relkind = 'r' order by 1",
  );
  return rows.map(({ day }) => day);
}

test("days are made and dropped by the day of UTC, also where the next one has begun", async () => {
  await inZone("Pacific/Kiritimati");
  const made = await days();
  const noon = Math.ceil((await db.store.now()) / dayMs) * dayMs + contractLimits.historyMs + noonMs;
  await goTo(noon);
  await db.store.prune({ limit: 10 });
  const left = await days();
  const first = nameOf(noon - contractLimits.historyMs);
  expect(made).toContain(first);
  expect([left[0], left.at(-1)]).toEqual([first, nameOf(noon + postgresLimits.partitionDaysAhead * dayMs)]);
});

test("each day has 24 hours, also that on which the clocks of the zone change", async () => {
  await inZone("Europe/Berlin");
  const year = new Date(await db.store.now()).getUTCFullYear() + 1;
  // The last Sundays of March and October lie in the 7 days ahead, with the day after them.
  for (const change of [Date.UTC(year, 2, 25), Date.UTC(year, 9, 25)]) {
    await goTo(change);
    await db.store.prune({ limit: 10 });
  }
  const { rows } = await db.pool.query<{ hours: number }>(`
    select distinct extract(epoch from bound[2]::timestamptz - bound[1]::timestamptz)::int / 3600 as hours
    from pg_class, regexp_match(pg_get_expr(relpartbound, oid), 'FROM \\(''(.+)''\\) TO \\(''(.+)''\\)') as bound
    where relname ~ '^(event|history)_[0-9]{8}$' and relkind = 'r'`);
  expect(rows).toEqual([{ hours: 24 }]);
});

test("what is added up by the hour begins with an hour of UTC, also where hours begin half an hour later", async () => {
  await inZone("Asia/Kolkata");
  await db.tally.rollUp(10);
  await settleOne(db.store, await running(db.store));
  // It stops before the oldest transaction of the server, which may be another test's.
  const minutes = await until("the hours", async () => {
    await db.tally.rollUp(10);
    const { rows } = await db.pool.query<{ minute: number }>(
      "select distinct extract(minute from at at time zone 'UTC')::int as minute from belfry.hour",
    );
    return rows.length > 0 ? rows : null;
  });
  expect(minutes).toEqual([{ minute: 0 }]);
});
