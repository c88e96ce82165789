import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { contractLimits } from "../../src/machine/contract-limits.ts";
import { testDatabase } from "../support/database.ts";
import { eachTest } from "../support/each-test.ts";

const day = 86_400_000;

describe("no table grows for ever", () => {
  const db = eachTest(() => testDatabase({ own: true }));

  const idsOf = async (table: string): Promise<readonly string[]> =>
    (await db.pool.query<{ id: string }>(`select id::text from belfry.${table} order by 1`)).rows.map(({ id }) => id);

  test("docs/retention.md has a line for each table, and for no other", async () => {
    const text = readFileSync(new URL("../../docs/retention.md", import.meta.url), "utf8");
    const documented = [...text.matchAll(/^\| `(\w+)` \| .+ \|$/gm)].flatMap(([, table]) => table ?? []);
    const { rows } = await db.pool.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'belfry'::regnamespace and relkind in ('r', 'p')
        and not relispartition and relname not in ('test_clock')`,
    );
    expect(documented.toSorted()).toEqual(rows.map(({ name }) => name).toSorted());
  });

  test("workers and bulk actions go after the history's retention; what is younger or open stays", async () => {
    await db.pool.query(
      "insert into belfry.worker (id, started_at, seen_at) values ('old', belfry.now(), belfry.now())",
    );
    const bulk = (state: string) =>
      db.pool.query(
        `insert into belfry.bulk (action, filter, caller, state, newest, next, matched, is_more, due_at, created_at, updated_at, finished_at)
          values ('retry', '{}', 'ada', $1, 1, 1, 0, false, belfry.now(), belfry.now(), belfry.now(),
            case when $1 <> 'RUNNING' then belfry.now() end)`,
        [state],
      );
    await bulk("DONE");
    await bulk("RUNNING");
    await db.clock.advance(contractLimits.historyMs - day);
    await db.store.prune({ limit: 10 });
    expect(await idsOf("worker")).toEqual(["old"]);
    await db.pool.query(
      "insert into belfry.worker (id, started_at, seen_at) values ('new', belfry.now(), belfry.now())",
    );
    await bulk("DONE");
    await db.clock.advance(2 * day);
    await db.store.prune({ limit: 10 });
    expect(await idsOf("worker")).toEqual(["new"]);
    expect(await idsOf("bulk")).toEqual(["2", "3"]);
  });

  test("a version goes with the last occurrence of its time, the one in force stays", async () => {
    await db.pool
      .query(`insert into belfry.schedule (id, app, version, source, spec, enabled, decided_until, ledger_from, created_at, updated_at)
      values ('s', 'a', 3, 'code', '{}', true, belfry.now(), belfry.now(), belfry.now(), belfry.now())`);
    await db.pool.query(`insert into belfry.schedule_version (schedule_id, version, spec, from_at)
      select 's', n, '{}', belfry.now() + (n - 1) * interval '10 days' from generate_series(1, 3) n`);
    await db.pool
      .query(`insert into belfry.occurrence (schedule_id, local_time, fold, timezone, nominal_at, outcome, schedule_version, planned_at, decided_at)
      select 's', n::text, 0, 'UTC', belfry.now() + n * interval '10 days', 'FIRED', n, belfry.now(), belfry.now() + n * interval '10 days'
      from generate_series(1, 3) n`);
    const versions = async () =>
      (await db.pool.query<{ version: number }>("select version from belfry.schedule_version order by 1")).rows.map(
        (row) => row.version,
      );
    await db.clock.advance(contractLimits.historyMs + 11 * day);
    await db.store.prune({ limit: 10 });
    expect(await versions()).toEqual([2, 3]);
    await db.clock.advance(100 * day);
    await db.store.prune({ limit: 10 });
    expect(await versions()).toEqual([3]);
  });
});
