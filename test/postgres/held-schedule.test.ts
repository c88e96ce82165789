/** A session that holds one row delays what that row stands for, and nothing else. */
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { defineSchedule } from "../../src/define/define-schedule.ts";
import { registry } from "../../src/define/definition.ts";
import type { Ports } from "../../src/machine/ports.ts";
import type { Store } from "../../src/machine/store.ts";
import { runSchedule } from "../../src/schedule/run-schedule.ts";
import { tick } from "../../src/schedule/tick.ts";
import { createMemoryLockStore } from "../../src/testing/memory-lock-store.ts";
import { appOf, work } from "../schedules-control/stage.ts";
import { minute } from "../schedules/spec.ts";
import { world } from "../schedules/world.ts";
import { testDatabase } from "../support/database.ts";
import { eachTest } from "../support/each-test.ts";

const names = Array.from({ length: 20 }, (_, n) => `s${String(n).padStart(2, "0")}`);
const others = names.filter((name) => name !== "s07");

const db = eachTest(() => testDatabase());

async function opened(launch: "tick" | "rule") {
  const app = appOf(
    // Its times fill two pages, so that a tick makes two rounds.
    defineSchedule({ id: "s00", every: "1s", run: work }),
    ...names
      .slice(1)
      .map((id) => defineSchedule({ id, cron: "* * * * *", timezone: "UTC", run: work, launch } as never)),
  );
  const { store, clock } = db;
  // The clock stands, so that no further time comes due between two passes, however slow the machine is.
  await clock.set(0);
  const at = world([app], { store, start: await store.now(), advance: (ms) => clock.advance(ms) });
  await at.install();
  return { ...at, definitions: registry([app]) };
}

/** Another session, as a deployment or a person in psql. @returns what ends it. */
async function held(id: string, table = "schedule"): Promise<() => Promise<void>> {
  const session = new Client({ connectionString: db.url });
  await session.connect();
  onTestFinished(() => session.end());
  await session.query("begin");
  await session.query(`select from belfry.${table} where id = $1 for update`, [id]);
  return async () => void (await session.query("rollback"));
}

const planned = async (): Promise<readonly string[]> =>
  (await db.pool.query<{ id: string }>("select distinct schedule_id as id from belfry.occurrence order by 1")).rows.map(
    ({ id }) => id,
  );

test("the tick writes the other schedules, and the held one once it is released", async () => {
  const at = await opened("tick");
  await at.advance(20 * minute);
  const release = await held("s07");
  let tries = 0;
  const plan: Store["plan"] = (plans, options) => {
    if (plans.some(({ scheduleId }) => scheduleId === "s07")) tries += 1;
    return at.store.plan(plans, options);
  };
  const pass = () => tick({ ...at.ports, store: { ...at.store, plan } }, at.definitions);
  expect(await pass()).toMatchObject({ schedules: 19, undecided: 0 });
  expect(await planned()).toEqual(others);
  expect(tries).toBe(1);
  await release();
  expect(await pass()).toMatchObject({ schedules: 1 });
  expect(await planned()).toEqual(names);
  expect((await at.ledger("s07")).length).toBe((await at.ledger("s08")).length);
});

test("the task of a rule waits for its schedule, and does its work then", async () => {
  const at = await opened("rule");
  await at.advance(minute);
  const release = await held("s07");
  const clock = { elapsedMs: () => at.now(), sleep: release, after: () => () => undefined };
  const ports: Ports = { ...at.ports, locks: createMemoryLockStore(), clock };
  const { signal } = new AbortController();
  const options = { id: "s07", owner: "task", stage: "test", onLockOutage: "postgres", signal } as const;
  expect(await runSchedule(ports, at.definitions, options)).toMatchObject({
    outcome: "done",
    occurrences: 1,
    jobs: [{ state: "SUCCESS" }],
  });
});

test("a run that is held delays no other run whose time has come", async () => {
  const { rows } = await db.pool.query<{ id: string }>(`
    insert into belfry.run (kind, key, version, state, sealed, created_at, prematerialized_for, prematerialized_by)
    select 'quiz', 'r' || n, 1, 'RUNNING', true, belfry.now(), belfry.now(), 's' from generate_series(1, 2) n returning id`);
  const release = await held(rows[0]?.id ?? "", "run");
  expect(await db.store.decidePrematerialized({ limit: 10 })).toEqual({ decided: 1, withdrawn: 0 });
  await release();
  expect(await db.store.decidePrematerialized({ limit: 10 })).toEqual({ decided: 1, withdrawn: 0 });
});
