import { expect, test } from "vitest";
import type { Costs } from "../../src/insight/costs.ts";
import { insightLimits } from "../../src/insight/insight-limits.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { contractLimits } from "../../src/machine/contract-limits.ts";
import type { JobId } from "../../src/machine/job.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { insertMany, messageFor, settlementOf, settleOptions } from "../contract/store/fixture.ts";
import { aRun, aTask } from "../contract/store/run-fixture.ts";
import { createApi } from "../../src/api/api.ts";
import { openApi } from "./harness.ts";
import { soon } from "../support/soon.ts";
import { eachTest } from "../support/each-test.ts";

const run = (): void => {};
const mail = defineJob({ id: "mail", run });
const report = defineJob({ id: "report", run });
const render = defineJob({ id: "render", runOn: "fargate", size: { cpu: 1_024, memoryMb: 2_048 }, run });
const app = defineApp({ name: "bill", jobs: [mail, report, render], schedules: [] });

const opened = eachTest(() => openApi([app]));
const { pool } = opened;

async function costs(query: string): Promise<Costs> {
  const { status, body } = await opened.call("GET", `/costs?${query}`);
  expect({ status, body }).toMatchObject({ status: 200 });
  return body as unknown as Costs;
}

const plant = (values: string): Promise<unknown> =>
  opened.pool.query(
    `insert into belfry.usage (day, kind, lane, schedule_id, key, attempts, calls, run_ms, minute_ms) ${values}`,
  );

const used = async (): Promise<readonly Record<string, unknown>[]> => {
  const { rows } = await opened.pool.query<Record<string, unknown>>(
    `select day::text, kind, schedule_id, key, attempts::int, calls, run_ms::int, minute_ms::int from belfry.usage
     where key not like 'planted%' order by day, kind, schedule_id, key`,
  );
  return rows;
};

/** Three moves at a time. What is added up stops before the oldest transaction of the server, which may be another test's. */
const addedUp = (look: (rows: readonly Record<string, unknown>[]) => void): Promise<void> =>
  soon(async () => {
    await opened.tally.rollUp(3);
    look(await used());
  });

async function claimAll(ids: readonly JobId[]) {
  const messages = await Promise.all(ids.map((id) => messageFor(opened.store, id)));
  return (await opened.store.claim(messages, { worker: "w", alone: false })).claimed;
}

/** As their definitions would have made them. */
async function keyed(ids: readonly JobId[], keys: readonly string[]): Promise<void> {
  const text = "update belfry.job set slot_keys = string_to_array(nullif($2, ''), ',') where id = $1";
  await Promise.all(ids.map((id, place) => pool.query(text, [id, keys[place]])));
}

/** October has 744 hours. Of a million attempts mail has 800,000; those of bob and the report come in tens; a picture takes 30 s. */
async function october(): Promise<void> {
  await plant(
    `values ('2026-10-01', 'mail', 'default', '', 'ada', 600000, 600000, 120000000, 36000000000),
      ('2026-10-31', 'mail', 'default', '', 'bob', 200000, 20000, 40000000, 12000000000),
      ('2026-10-15', 'report', 'default', 'nightly', '', 100000, 10000, 100000000, 6000000000),
      ('2026-10-15', 'render', 'default', '', 'ada', 100000, 100000, 3000000000, 6000000000),
      ('2026-11-01', 'mail', 'default', '', 'ada', 7, 7, 7, 7), ('2026-09-30', 'mail', 'default', '', 'ada', 7, 7, 7, 7)`,
  );
}

const month = "from=2026-10-01&to=2026-11-01&databaseUsd=100";
const shown = ({ groups }: Costs): readonly (readonly [string, string])[] =>
  groups.map(({ name, usd }) => [name, usd.total.toFixed(2)]);

test("a month's bill is to the cent what a calculator says", async () => {
  await october();
  const byKind = await costs(month);
  // Mail to ada: 600,000 calls 0.12, 69,000 GB-s 0.92, SQS 0.72, 1.2 GB of log 0.60. To bob: 0.004, 2,300 GB-s 0.0307, 0.024, 0.065.
  // Render: 1,666.67 vCPU-h 53.97 and 3,333.33 GB-h 11.87; its launches 0.02 and 0.02, SQS 0.12, log 0.10.
  // Report: 0.002, 5,150 GB-s 0.0687, 0.012, 0.0325. The database: 100 x 744 / 730 = 101.9178, of which mail has 80 %.
  expect(shown(byKind)).toEqual([
    ["mail", "84.02"],
    ["render", "76.29"],
    ["report", "10.31"],
  ]);
  const [first, second] = byKind.groups;
  expect(first?.usd.fargate).toBe(0);
  expect(first?.usd.queues).toBeCloseTo(0.744, 9);
  expect(first?.usd.database).toBeCloseTo(81.534_247, 6);
  expect(second?.usd.fargate).toBeCloseTo(65.833_333, 6);
  expect(second?.gbSeconds).toBe(1_500);
  expect(byKind.total).toMatchObject({ attempts: 1_000_000, calls: 730_000, runMs: 3_260_000_000 });
  expect(shown(await costs(`${month}&by=key`))).toEqual([
    ["ada", "139.80"],
    ["bob", "20.51"],
    ["", "10.31"],
  ]);
  expect(shown(await costs(`${month}&by=schedule`))).toEqual([
    ["", "160.30"],
    ["nightly", "10.31"],
  ]);
  expect(byKind.total.usd.total.toFixed(2)).toBe("170.61");
  expect(byKind.leftOut).toContain("data transfer and NAT");
  expect((await costs(`${month}&kind=report`)).total.usd.total.toFixed(2)).toBe("10.31");
  expect((await costs(month.replace("&databaseUsd=100", ""))).leftOut[0]).toMatch(/^the database/);
});

test("by kind, schedule or key the sum is the same, also of what is not listed", async () => {
  await october();
  const more = insightLimits.costGroupsMax + 20;
  await plant(
    `select '2026-10-02'::date, 'mail', 'default', 'planted-' || n % 7, 'planted-' || n, 10 + n, 5, 1000 * n, 60000 * n
     from generate_series(1, ${more}) n union all
     select '2026-10-02', 'mail', 'gone', '(others)', '(others)', 5, 0.5, 100, 300000`,
  );
  const [byKind, bySchedule, byKey] = [
    await costs(month),
    await costs(`${month}&by=schedule`),
    await costs(`${month}&by=key`),
  ];
  for (const { total } of [bySchedule, byKey]) expect(total.usd.total).toBeCloseTo(byKind.total.usd.total, 8);
  for (const { groups, others, total } of [byKind, bySchedule, byKey]) {
    const all = [...groups, ...(others === null ? [] : [others])];
    expect(all.reduce((sum, { usd }) => sum + usd.total, 0)).toBeCloseTo(total.usd.total, 8);
    expect(all.reduce((sum, { attempts }) => sum + attempts, 0)).toBe(total.attempts);
  }
  expect(byKey.groups).toHaveLength(insightLimits.costGroupsMax);
  expect(byKey.others).toMatchObject({ groups: 24 });
  expect(bySchedule.others).toMatchObject({ groups: 1, attempts: 5 });
  expect(byKind.others).toBeNull();
  const [lane] = opened.options.lanes;
  if (lane === undefined) throw new Error("no lane");
  const api = createApi({ ...opened.options, lanes: [lane, { ...lane, name: "small", memoryMb: 128 }] });
  const answer = await api.fetch(
    new Request(`http://127.0.0.1/costs?${month}`, { headers: { host: "127.0.0.1:4400" } }),
  );
  expect(await answer.json()).toMatchObject({ total: { gbSeconds: byKind.total.gbSeconds } });
});

test("what attempts used is added up once: by schedule and key, a claim shared by its jobs, a minute at least", async () => {
  const { store, tally } = opened;
  await tally.rollUp(10);
  const ids = await insertMany(
    store,
    [{}, {}, {}, {}].map(() => ({ kind: "mail" })),
  );
  const claimed = await claimAll(ids);
  await keyed(ids, ["cap:mail,cap:mail#ada", "rate:mail#bob\nby", "", ""]);
  await opened.pool.query("update belfry.job set schedule_id = 'nightly' where id = $1", [ids[2]]);
  const each = 1 / claimed.length;
  await opened.advance(90_000);
  const settlements = claimed.map((job) => settlementOf(job));
  await store.settle(settlements, { ...settleOptions, worker: "w" });
  await Promise.all([1, 2, 3].map(() => tally.rollUp(2)));
  const row = { day: "2026-11-21", kind: "mail", attempts: 1, calls: each, run_ms: 90_000, minute_ms: 90_000 };
  await addedUp((rows) =>
    expect(rows).toMatchObject(
      [
        ["", ""],
        ["", "ada"],
        ["", "bob\nby"],
        ["nightly", ""],
      ].map(([schedule_id, key]) => ({ ...row, schedule_id, key })),
    ),
  );
});

test("the key is that of the fairness, else of the first cap or rate by key", async () => {
  const { pool } = await openApi();
  const { rows } = await pool.query<{ key: string }>(
    `select belfry.usage_key(turn, slots) as key from (values
       (1, 'turn:mail#-1#ada#1', array['cap:k#bob']), (2, 'turn:mail#0#', array['cap:k', 'lock:x#y', 'rate:k#bob#2']),
       (3, null, array['cap:k#a', 'rate:k#b']), (4, null, array['cap:k', 'overlap:s#1']), (5, 'turn:mail#1#', null)) v (n, turn, slots) order by n`,
  );
  expect(rows.map(({ key }) => key)).toEqual(["ada#1", "bob#2", "a", "", ""]);
});

test("a day's rows are bounded: what is one too many counts as others, but no row that it has and no other day", async () => {
  const { store, tally } = opened;
  await tally.rollUp(10);
  await plant(
    `select '2026-11-21'::date, 'mail', 'default', '', 'planted-' || n, 1, 1, 1, 1 from generate_series(2, ${contractLimits.usageRowsADayMax}) n`,
  );
  const ids = await insertMany(
    store,
    [{}, {}, {}].map(() => ({ kind: "mail" })),
  );
  await claimAll(ids);
  await keyed(ids, ["rate:mail#a", "rate:mail#b", "rate:mail#c"]);
  await addedUp((rows) =>
    expect(rows).toMatchObject([
      { key: "a", attempts: 1 },
      { schedule_id: "(others)", key: "(others)", attempts: 2 },
    ]),
  );
  const { total, others } = await costs("by=key");
  expect(total.attempts).toBe(contractLimits.usageRowsADayMax + 2);
  expect(others?.attempts).toBe(contractLimits.usageRowsADayMax + 2 - insightLimits.costGroupsMax);
  const later = await insertMany(
    store,
    [{}, {}, {}].map(() => ({ kind: "mail" })),
  );
  await claimAll(later.slice(0, 2));
  await opened.advance(24 * 3_600_000);
  await claimAll(later.slice(2));
  await keyed(later, ["rate:mail#a", "rate:mail#d", "rate:mail#d"]);
  await addedUp((rows) =>
    expect(rows).toMatchObject([
      { key: "a", attempts: 2 },
      { key: "(others)", attempts: 3 },
      { day: "2026-11-22", key: "d", attempts: 1 },
    ]),
  );
});

test("the tasks of a scheduled run, and of the runs that they start, count for its schedule", async () => {
  const { store, tally, pool } = opened;
  await tally.rollUp(10);
  const [starter] = await insertMany(store, [{ kind: "mail" }]);
  if (starter === undefined) throw new Error("no job");
  await pool.query("update belfry.job set schedule_id = 'nightly' where id = $1", [starter]);
  let starterId = starter;
  for (const key of ["outer", "inner"]) {
    await store.startRun(aRun({ key, starterId, tasks: [aTask(key)] }));
    const { rows } = await pool.query<{ id: JobId }>("select id from belfry.job where task = $1", [key]);
    starterId = rows[0]?.id ?? starterId;
    await claimAll([starterId]);
  }
  await addedUp((rows) =>
    expect(rows).toMatchObject([{ kind: "settlement.task", schedule_id: "nightly", attempts: 2 }]),
  );
});

test("the database counts since something was counted, and what waits to be added up is said", async () => {
  await opened.tally.rollUp(10);
  await plant("values ('2026-11-20', 'mail', 'default', '', '', 1, 1, 1, 1)");
  const of = "from=2026-10-01&to=2026-11-21&databaseUsd=730";
  expect(await costs(of)).toMatchObject({ total: { usd: { database: 24 } } });
  await claimAll(await insertMany(opened.store, [{ kind: "mail" }]));
  await opened.advance(60_000);
  const { leftOut } = await costs(of);
  expect(leftOut[0]).toBe("days before 2026-11-20: nothing was counted then");
  expect(leftOut[1]).toMatch(/^what happened since 2026-11-21T.*Z: it is not added up yet$/);
  await opened.pool.query(
    "update belfry.reader set upto = (select max(xid) from belfry.event)::text where name = 'roll-up'",
  );
  expect((await costs(of)).leftOut[1]).toBe(leftOut[1]);
});

test("days that are no period are refused; what is older than 400 days is pruned", async () => {
  for (const query of ["from=2026-11-21&to=2026-11-21", "from=2025-10-16&to=2025-10-18", "from=2027-01-01"]) {
    const { status, body } = await opened.call("GET", `/costs?${query}`);
    expect({ query, status, code: body.code }).toEqual({ query, status: 422, code: "invalid-time" });
    expect(body.detail).toMatch(/^from is \d/);
  }
  expect((await opened.call("GET", "/costs?from=21.11.2026")).status).toBe(400);
  expect(await costs("")).toMatchObject({ from: "2026-11-01", to: "2026-11-22", groups: [], others: null });
  await plant(
    "values ('2025-10-16', 'mail', 'default', '', '', 1, 1, 1, 1), ('2025-10-17', 'mail', 'default', '', '', 1, 1, 1, 1)",
  );
  await opened.store.prune({ limit: 10 });
  expect(await used()).toMatchObject([{ day: "2025-10-17" }]);
});
