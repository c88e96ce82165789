import { describe, expect, test } from "vitest";
import type { Claimed } from "../../src/machine/store.ts";
import { aJob, running, settleAll } from "../contract/store/fixture.ts";
import { claimPlain } from "../../src/postgres/sql/claim.ts";
import { settleSuccess, settleTasks } from "../../src/postgres/sql/settle.ts";
import { until } from "../local/until.ts";
import { testDatabase, otherSession } from "../support/database.ts";
import { eachTest } from "../support/each-test.ts";
import { messagesOf } from "./race.ts";

/** What a claim writes: no index may name any of it. */
const claimWrites = ["state", "event_id", "attempt", "worker", "started_at", "lease_id", "progress"];

const db = eachTest(() => testDatabase({ own: true, connections: 1 }));

async function claimAll(jobs: ReturnType<typeof aJob>[], size: number): Promise<readonly Claimed[]> {
  const { aftermath } = await db.store.insert(jobs);
  const messages = messagesOf(aftermath.outbox);
  const claimed: Claimed[] = [];
  for (let from = 0; from < messages.length; from += size) {
    const page = messages.slice(from, from + size);
    claimed.push(...(await db.store.claim(page, { worker: "worker-1", alone: false })).claimed);
  }
  return claimed;
}

describe("a claim writes no index entry", () => {
  test("no index of the job table and no predicate names a column that a claim changes", async () => {
    const { rows } = await db.pool.query<{ definition: string }>(
      "select pg_get_indexdef(indexrelid) as definition from pg_index where indrelid = 'belfry.job'::regclass",
    );
    expect(rows).toHaveLength(10);
    const named = rows.flatMap(({ definition }) =>
      claimWrites.filter((column) => new RegExp(`\\b${column}\\b`).test(definition)),
    );
    expect(named).toEqual([]);
  });

  test.each([60, 200, 8_000])("95 of 100 claims of jobs with %i bytes of payload are heap-only", async (bytes) => {
    const count = 1_000;
    const text = Array.from({ length: bytes }, (_, n) => String.fromCharCode(97 + ((n * n * 7) % 26))).join("");
    const jobs = Array.from({ length: count }, (_, n) => aJob({ payload: { text: `${n}${text}` } }));
    await claimAll(jobs, 10);
    await db.connections.close();
    const hot = await until("the statistics of the claims", async () => {
      const { rows } = await db.pool.query<{ updated: number; hot: number }>(
        `select n_tup_upd::int as updated, n_tup_hot_upd::int as hot from pg_stat_user_tables
         where relid = 'belfry.job'::regclass`,
      );
      return (rows[0]?.updated ?? 0) >= count ? rows[0] : null;
    });
    expect((hot?.hot ?? 0) / count).toBeGreaterThanOrEqual(0.95);
  });
});

test("claim, settle and heartbeat keep their plans", async () => {
  const claimed = await claimAll(
    Array.from({ length: 300 }, () => aJob()),
    10,
  );
  for (let from = 0; from < claimed.length; from += 10) {
    const page = claimed.slice(from, from + 10);
    await db.store.heartbeat(page, "worker-1");
    await settleAll(db.store, page);
  }
  const { rows } = await db.connections.main.query<{ name: string; custom: number; generic: number }>(
    `select name, custom_plans::int as custom, generic_plans::int as generic from pg_prepared_statements
     where name = any('{belfry_claim,belfry_settle-success,belfry_heartbeat}') order by name`,
  );
  expect(rows.map((row) => row.name)).toEqual(["belfry_claim", "belfry_heartbeat", "belfry_settle-success"]);
  for (const { custom, generic } of rows) {
    expect(custom + generic).toBe(30);
    // An analyze in between may have a few more planned, until their costs are compared again.
    expect(generic).toBeGreaterThan(15);
  }
});

test("claim and success lock by id, also where a bitmap scan of rows that lie in another order would be cheaper", async () => {
  await db.pool.query(
    `insert into belfry.job (id, kind, payload, lane, max_attempts, lease_ms, retention_ms, trace, created_at, event_id,
       state, due_at, dispatched_at)
     overriding system value
     select n, 'scattered', 'null', 'lane', 4, 20000, 1, '', now(), 0, 'QUEUED', now(), now()
     from generate_series(1, 20000) n order by md5(n::text)`,
  );
  await db.pool.query("analyze belfry.job");
  const ids = Array.from({ length: 500 }, (_, n) => 20 * n + 1);
  const scansOf = async (by: Pick<typeof db.pool, "query">): Promise<readonly (readonly string[])[]> => [
    await jobScans(by, claimPlain.text, [ids, ids, "worker-1", false, []]),
    await jobScans(by, settleSuccess.text, [ids, ids, "worker-1", null]),
    await jobScans(by, settleTasks.text, [ids, ids, "worker-1", null, 0, 1]),
  ];
  expect(new Set((await scansOf(db.connections.main)).flat())).toEqual(new Set(["Index Scan"]));
  expect((await scansOf(db.pool)).flat()).toContain("Bitmap Heap Scan");
});

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly Plans?: readonly PlanNode[];
}

/** How a statement reads the jobs, each time it does. */
async function jobScans(
  by: Pick<typeof db.pool, "query">,
  text: string,
  values: unknown[],
): Promise<readonly string[]> {
  const { rows } = await by.query<{ "QUERY PLAN": readonly { Plan: PlanNode }[] }>(
    `explain (format json) ${text}`,
    values,
  );
  const nodesOf = (node: PlanNode): readonly PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];
  return rows
    .flatMap((row) => row["QUERY PLAN"].flatMap(({ Plan }) => nodesOf(Plan)))
    .filter((node) => node["Relation Name"] === "job" && node["Node Type"].endsWith("Scan"))
    .map((node) => node["Node Type"]);
}

test("a job whose statement names an event that is not there is refused by the event check", async () => {
  const { jobId } = await running(db.store);
  const move = `update belfry.job set state = 'CANCELED', lease_id = null, finished_at = belfry.now(),
    event_id = belfry.next_event() where id = $1`;
  await expect(db.pool.query(move, [jobId])).rejects.toThrow("no event row says so");
});

test("a lease has a running job or is over: none is left behind by settles, cancels and rescues", async () => {
  const claimed = await claimAll(
    Array.from({ length: 30 }, () => aJob()),
    10,
  );
  await db.store.cancel(claimed.slice(0, 5).map((job) => job.jobId));
  await settleAll(db.store, claimed.slice(3, 25));
  await db.clock.advance(60_000);
  await db.store.rescue({ limit: 100, interruptionsMax: 20 });
  const { rows } = await db.pool.query(
    "select (select count(*)::int from belfry.lease) as leases, (select count(*)::int from belfry.job where lease_id is not null) as jobs",
  );
  expect(rows).toEqual([{ leases: 0, jobs: 0 }]);
});

test("the slot of a canceled job is not free before a heartbeat under way could have renewed its lease", async () => {
  await db.store.installSlots([{ key: "cap:one", size: 1, onRefusal: "hold", reason: "slot" }]);
  const held = await running(db.store, { slotKeys: ["cap:one"] });
  const other = await otherSession(db.pool);
  await other.query("update belfry.lease set until = belfry.now() + belfry.span(ms)");
  await db.store.cancel([held.jobId]);
  await other.query("commit");
  const { rows } = await db.pool.query<{ safe: boolean }>(
    "select s.free_from >= l.until as safe from belfry.slot s cross join belfry.lease l where s.key = 'cap:one'",
  );
  expect(rows).toEqual([{ safe: true }]);
});
