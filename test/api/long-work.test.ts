import { expect, test } from "vitest";
import { aRun } from "../contract/store/run-fixture.ts";
import { openApi } from "./harness.ts";

type Opened = Awaited<ReturnType<typeof openApi>>;
const count = 1_200;

async function plant({ pool }: Opened, run: string | null, hold: "none" | "paused"): Promise<void> {
  await pool.query(
    `insert into belfry.job (kind, payload, payload_hash, lane, state, event_id, due_at, generation, attempt, failures, max_attempts,
       lease_ms, retention_ms, trace, created_at, run_id, hold, held_on)
     select 'ping', 'null', '\\x00', 'default', 'PENDING', 0, belfry.now(), 1, 0, 0, 4, 20000, 2592000000, 't', belfry.now(), $2, $3::belfry.job_hold,
       case when $3 = 'paused' then 'lane:default' else '' end
     from generate_series(1, $1)`,
    [count, run, hold],
  );
}

async function aLargeRun(opened: Opened): Promise<string> {
  const { runId } = await opened.store.startRun(aRun({ kind: "wide", sealed: true, tasks: [] }));
  await plant(opened, runId, "none");
  return runId;
}

test("the cancel of a large run is answered after a page, goes on by itself and says in its history who asked", async () => {
  const opened = await openApi();
  const { api, call, pool } = opened;
  const run = await aLargeRun(opened);
  const headers = { host: "127.0.0.1" };
  const begun = await api.fetch(new Request(`http://127.0.0.1/runs/${run}/cancel`, { method: "POST", headers }));
  expect([begun.status, begun.headers.get("location")]).toEqual([202, `/runs/${run}`]);
  expect(await begun.json()).toMatchObject({ canceled: 1_000, run: { state: "CANCELING" } });
  await expect
    .poll(async () => (await call("GET", `/runs/${run}/tasks?limit=1&state=PENDING`)).body)
    .toMatchObject({ tasks: [] });
  const { rows } = await pool.query(
    "select caller, count(*)::int as jobs from belfry.history where reason = 'run canceled' group by 1",
  );
  expect(rows).toEqual([{ caller: "ada", jobs: count }]);
});

test("a lane with much on hold is on at once, and the rest of it is released after the answer", async () => {
  const opened = await openApi();
  const { call, pool } = opened;
  await call("POST", "/lanes/default/pause");
  await plant(opened, null, "paused");
  expect(await call("POST", "/lanes/default/resume")).toMatchObject({
    status: 202,
    body: { paused: false, released: 1_000 },
  });
  const held = async (): Promise<unknown> =>
    (await pool.query("select from belfry.job where hold = 'paused'")).rowCount;
  await expect.poll(held).toBe(0);
  expect(await call("POST", "/lanes/default/resume")).toMatchObject({ status: 200, body: { released: 0 } });
});

test("bulk actions are listed in pages, each with its filter as it was asked for", async () => {
  const { call } = await openApi();
  const filter = { state: ["PENDING"], kind: "ping", dueTo: "2026-11-22T00:00:00.000Z", payload: { "user.id": "7" } };
  const first = await call("POST", "/bulk", { action: "cancel", filter });
  expect(first).toMatchObject({ status: 202, body: { filter } });
  const second = await call("POST", "/bulk", { action: "cancel", filter: { kind: "ping", text: "a b", error: "E" } });
  expect(second.body).toMatchObject({ filter: { kind: "ping", text: "a b", error: "E" } });
  const page = (await call("GET", "/bulk?limit=1")).body;
  expect(page).toMatchObject({ bulks: [{ id: second.body.id }], nextCursor: second.body.id });
  expect((await call("GET", `/bulk?limit=1&cursor=${page.nextCursor}`)).body).toMatchObject({
    bulks: [{ id: first.body.id }],
    nextCursor: null,
  });
});
