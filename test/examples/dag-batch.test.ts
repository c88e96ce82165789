/** The graphs of dag-batch that come as files, against an oracle that reads the same files. */
import type { Job } from "belfry";
import { createTestSystem, type TestSystem } from "belfry/testing";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import app from "../../examples/dag-batch/app.ts";
import { graphs } from "../../examples/dag-batch/input.ts";
import { readGraphFile } from "../../examples/dag-batch/workflow.ts";
import { readLedger } from "../../examples/fake/ledger.ts";
import { type FakeProcess, startFake } from "../../examples/fake/start.ts";
import { openConnections } from "../../src/postgres/connect.ts";
import { createPostgresStore } from "../../src/postgres/store.ts";
import type { RunId } from "../../src/machine/job.ts";
import { expectedEnds } from "../demo/graph-oracle.ts";

let services: FakeProcess;

beforeAll(async () => {
  // A thousandth of a second for each second a task takes.
  services = await startFake(new URL("../../examples/dag-batch/fakes/services.ts", import.meta.url), {
    BELFRY_TIME_SCALE: "1000",
  });
  process.env["DAG_SERVICES_URL"] = services.env["DAG_SERVICES_URL"];
});
afterAll(() => services.stop());

const day = "2031-05-06";

async function start(graph: string, part?: string): Promise<void> {
  const request = new Request("http://x/batches", { method: "POST", body: JSON.stringify({ graph, day, part }) });
  expect((await app.routes?.fetch(request, {} as never))?.status).toBe(201);
}

/** Until every task has ended, with time passing for those that back off. */
async function runGraph(system: TestSystem, graph: string): Promise<void> {
  await start(graph);
  await system.advance("5m");
}

async function endsOf({ database }: TestSystem, graph: string): Promise<Readonly<Record<string, string>>> {
  const { rows } = await database.query<{ task: string; status: string }>(
    `select task_key as task, case when not_taken then 'NOT_TAKEN' else evt.status end as status
     from dag_batch.outbox_evt as evt join dag_batch.batch_instance as batch on batch.id = batch_id where biz_key = $1`,
    [`${day}:${graph}`],
  );
  return Object.fromEntries(rows.map(({ task, status }) => [task, status]));
}

let systems = 0;

/** The cluster knows tasks by their effect keys, so that no two systems may have the same job ids. */
async function opened(): Promise<TestSystem> {
  const system = await createTestSystem({ apps: [app], databaseUrl: inject("postgresUrl") });
  await system.database.query("select setval(pg_get_serial_sequence('belfry.job', 'id'), $1)", [10_000 * ++systems]);
  return system;
}

describe("graphs that come as data", () => {
  test.each(graphs)("%s ends as the oracle says, and its tasks run once, in their order", async (graph) => {
    await using system = await opened();
    await runGraph(system, graph);
    expect(await endsOf(system, graph)).toEqual(Object.fromEntries(expectedEnds(readGraphFile(graph))));
    const lines = readLedger(services.home, "dag-batch-services").filter((line) => line["graph"] === graph);
    const ended = lines.filter(({ outcome }) => outcome === "ended").map((line) => String(line["task"]));
    expect(new Set(ended).size).toBe(ended.length);
  });

  test("all tasks stand there first, each success counts down, and a change of the graph is for the next batch", async () => {
    await using system = await opened();
    const valuesOf = async (text: string) =>
      (await system.database.query<{ it: unknown }>(text)).rows.map(({ it }) => it);
    const open = "select pre_cnt as it from dag_batch.outbox_evt where batch_id = 1 and pre_cnt > 0 order by id";
    // The first task, which all others wait for, has to be tried again.
    system.fail({ id: "workflow.task" } as Job<unknown>, new Error("not now"));
    await start("wide-join");
    await system.drain();
    const tasks = readGraphFile("wide-join");
    const after = tasks.map((task) => (task.after ?? []).length);
    expect(await valuesOf(open)).toEqual(after.filter((count) => count > 0));
    const [at] = await valuesOf("select visible_at as it from dag_batch.outbox_evt where attempts > 0");
    await system.advance({ to: (at as Date).toISOString() });
    // Four parts fail once and wait for their second attempt; the join waits for them, and the report for the join.
    expect(await valuesOf(open)).toEqual([4, 1]);
    await system.database.query("insert into dag_batch.task (graph, version, name) values ('wide-join', 1, 'alone')");
    await start("wide-join", "changed");
    await system.advance("5m");
    const batches = `select array[dag_version::text, status, (select count(*)::text from dag_batch.outbox_evt where batch_id = b.id
      and status = 'DONE')] as it from dag_batch.batch_instance as b order by id`;
    expect(await valuesOf(batches)).toEqual([
      ["0", "DONE", String(tasks.length)],
      ["1", "DONE", "1"],
    ]);
  });

  test("resume goes on from the failure and repeats nothing that succeeded", async () => {
    await using system = await opened();
    const connections = openConnections({ url: system.databaseUrl, applicationName: "resume" });
    onTestFinished(() => connections.close());
    await runGraph(system, "broken");
    const { rows } = await system.database.query<{ id: RunId }>("select id::text from dag_batch.batch_instance");
    const [{ id }] = rows as [{ id: RunId }];
    const attempts =
      "select coalesce(sum(attempt), 0)::int as n from belfry.job where state = 'SUCCESS' and run_id = $1";
    const before = (await system.database.query(attempts, [id])).rows;
    const again = await createPostgresStore(connections).resumeRun(id, {});
    expect(again.ids.length).toBeGreaterThan(1);
    await system.advance("5m");
    // The cluster refuses the same task again, so it ends where it was, and what had succeeded was left alone.
    expect(await endsOf(system, "broken")).toEqual(Object.fromEntries(expectedEnds(readGraphFile("broken"))));
    expect((await system.database.query(attempts, [id])).rows).toEqual(before);
  });

  test("a graph without a file is refused by its name", () => {
    expect(() => readGraphFile("../secrets")).toThrow(/not the name of a graph/);
    expect(() => readGraphFile("nowhere")).toThrow(/cannot be read/);
  });
});
