/** A graph that lies in tables: its rows are the graph, and a new version is a new graph. */
import { createTestSystem } from "belfry/testing";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import app from "../../examples/dag-batch/app.ts";
import { type FakeProcess, startFake } from "../../examples/fake/start.ts";

let services: FakeProcess;
beforeAll(async () => {
  const file = new URL("../../examples/dag-batch/fakes/services.ts", import.meta.url);
  services = await startFake(file, { BELFRY_TIME_SCALE: "1000" });
  process.env["DAG_SERVICES_URL"] = services.env["DAG_SERVICES_URL"];
});
afterAll(() => services.stop());

test("a graph runs from its tables, and a batch says the version that it ran", async () => {
  await using system = await createTestSystem({ apps: [app], databaseUrl: inject("postgresUrl") });
  const start = async (day: string): Promise<void> => {
    const body = JSON.stringify({ graph: "monthly", day });
    const request = new Request("http://x/batches", { method: "POST", body });
    expect((await app.routes?.fetch(request, {} as never))?.status).toBe(201);
    await system.drain();
  };
  const refused = async (input: unknown): Promise<unknown> => {
    const body = typeof input === "string" ? input : JSON.stringify(input);
    const answer = await app.routes?.fetch(new Request("http://x/batches", { method: "POST", body }), {} as never);
    expect(answer?.status).toBe(422);
    return await answer?.json();
  };
  const write = async (version: number, names: readonly string[]): Promise<void> => {
    await system.database.query(
      "insert into dag_batch.task (graph, version, name) select 'monthly', $1, unnest($2::text[])",
      [version, names],
    );
    await system.database.query("insert into dag_batch.task_dep select 'monthly', $1, $2, unnest($3::text[])", [
      version,
      names[0],
      names.slice(1),
    ]);
  };
  await write(1, ["load", "sum"]);
  await start("2031-01-31");
  await start("2031-02-28");
  await write(7, ["load", "sum", "mail"]);
  await start("2031-03-31");
  await write(8, ["load"]);
  await system.database.query("insert into dag_batch.task_dep values ('monthly', 8, 'load', 'load')");
  expect(await refused({ graph: "monthly", day: "2031-04-30" })).toMatchObject({ error: "INVALID_GRAPH" });
  expect(await refused({ graph: "unheard-of", day: "2031-04-30" })).toMatchObject({ error: "NO_GRAPH" });
  const fields = { graph: [{}], day: [{}], part: [{}] };
  expect(await refused({ graph: "a\0b", day: "April", part: "a\0b" })).toMatchObject({ error: "INVALID", fields });
  expect(await refused("{{")).toMatchObject({ error: "INVALID", fields: { graph: [{}], day: [{}] } });
  const batches = await system.database.query(
    "select biz_key, dag_version::int, status from dag_batch.batch_instance order by id",
  );
  expect(batches.rows).toEqual([
    { biz_key: "2031-01-31:monthly", dag_version: 1, status: "DONE" },
    { biz_key: "2031-02-28:monthly", dag_version: 1, status: "DONE" },
    { biz_key: "2031-03-31:monthly", dag_version: 7, status: "DONE" },
  ]);
  const payloads = await system.database.query(
    "select distinct payload from dag_batch.outbox_evt where payload ->> 'version' = '7'",
  );
  expect(payloads.rows).toEqual([{ payload: { graph: "monthly", day: "2031-03-31", version: 7, seconds: 0 } }]);
  const tasks = await system.database.query(
    "select task_key, pre_cnt, status, attempts from dag_batch.outbox_evt where batch_id = (select max(id) from dag_batch.batch_instance) order by task_key",
  );
  expect(tasks.rows.map((row) => (row as { task_key: string }).task_key)).toEqual(["load", "mail", "sum"]);
  expect(new Set(tasks.rows.map((row) => (row as { status: string }).status))).toEqual(new Set(["DONE"]));
});
