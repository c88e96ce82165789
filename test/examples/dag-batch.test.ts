import type { RunId } from "../../src/core/job/job.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import app from "../../examples/dag-batch/app.ts";
import { graphs } from "../../examples/dag-batch/input.ts";
import { seed } from "../../examples/dag-batch/seed.ts";
import { type FileTask, readGraphFile } from "../../examples/dag-batch/workflow.ts";
import { readGraph } from "../../src/core/define/define-data-graph.ts";
import { rerunRun } from "../../src/core/admin/run-control.ts";
import { createWorker, type Worker } from "../../src/core/work/worker.ts";
import { readLedger } from "../../examples/fake/ledger.ts";
import { expectedEnds } from "../demo/graph-oracle.ts";
import { type FakeProcess, startFake } from "../../examples/fake/start.ts";
import { type ExampleStage, stageOf } from "./stage.ts";

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

/** Works both lanes until nothing moves any more, with time passing for those that back off. */
async function runAll(on: ExampleStage, by: Worker = on.worker): Promise<void> {
  for (let turn = 0; turn < 12; turn += 1) {
    await on.pass();
    for (let records = on.receive(); records.length > 0; records = on.receive()) await on.work(records, by);
    await on.advance(15_000);
  }
}

async function statesOf({ db }: ExampleStage, key: string): Promise<Readonly<Record<string, string>>> {
  const { rows } = await db.pool.query<{ task: string; status: string }>(
    `select task_key as task, case when not_taken then 'NOT_TAKEN' else evt.status end as status
     from dag_batch.outbox_evt as evt join dag_batch.batch_instance as batch on batch.id = batch_id where biz_key = $1`,
    [key],
  );
  return Object.fromEntries(rows.map(({ task, status }) => [task, status]));
}

async function runOf({ db }: ExampleStage, key: string) {
  const { rows } = await db.pool.query<{
    id: RunId;
    status: string;
    percent: number;
    dag_version: number;
    rerun_of: string | null;
  }>(
    `select id::text, status, progress.percent, dag_version::int, (select parent_id::text from belfry.run where id = batch.id) as rerun_of
     from dag_batch.batch_instance as batch join belfry.run_progress as progress using (id) where biz_key = $1`,
    [key],
  );
  const [row] = rows;
  if (row === undefined) throw new Error(`there is no run ${key}`);
  return row;
}

test("a shop's settlement takes the branch that its difference asks for", async () => {
  const stage = await stageOf(app, { lane: "default" });
  await seed(stage.db.pool);
  const { rows } = await stage.db.pool.query<{ day: string }>("select max(day)::text as day from dag_batch.booking");
  const day = rows[0]?.day ?? "";
  for (const shop of ["shop-01", "shop-04", "shop-11"]) await stage.enqueue("settlement", { shop, day });
  await runAll(stage);
  const booked = { orders: "DONE", refunds: "DONE" };
  expect(await runOf(stage, `${day}:shop-01`)).toMatchObject({ status: "DONE", percent: 100 });
  const equal = { ...booked, match: "DONE", review: "NOT_TAKEN", publish: "DONE" };
  expect(await statesOf(stage, `${day}:shop-01`)).toEqual(equal);
  expect(await runOf(stage, `${day}:shop-04`)).toMatchObject({ status: "DONE", percent: 100 });
  const reviewed = { ...booked, match: "DONE", review: "DONE", publish: "DONE" };
  expect(await statesOf(stage, `${day}:shop-04`)).toEqual(reviewed);
  expect(await runOf(stage, `${day}:shop-11`)).toMatchObject({ status: "FAILED", percent: 100 });
  const unknown = { ...booked, match: "FAILED", review: "SKIPPED", publish: "DONE" };
  expect(await statesOf(stage, `${day}:shop-11`)).toEqual(unknown);
  const published = readLedger(services.home, "dag-batch-services").filter((line) => line["what"] === "settlement");
  const said = Object.fromEntries(published.map((line) => [line["shop"], [line["diff"], line["ticket"] !== "none"]]));
  expect(said).toEqual({ "shop-01": [0, false], "shop-04": [120, true], "shop-11": ["unknown", false] });
});

describe("graphs that come as data", () => {
  test("have the shapes of real workflows", () => {
    const files = new Map(graphs.map((graph) => [graph, readGraphFile(graph)]));
    const widest = Math.max(...[...files.values()].flat().map((task) => (task.after ?? []).length));
    expect(widest).toBeGreaterThanOrEqual(100);
    expect(Math.max(...levels(files.get("deep") ?? []).values())).toBe(18);
    const deep = levels(files.get("deep") ?? []);
    const skipping = (files.get("deep") ?? []).filter(({ name, after = [] }) =>
      after.some((before) => (deep.get(name) ?? 0) - (deep.get(before) ?? 0) > 1),
    );
    expect(skipping.length).toBeGreaterThan(3);
    const islands = files.get("islands") ?? [];
    const named = new Set(islands.flatMap(({ after = [] }) => after));
    expect(islands.filter(({ name, after = [] }) => after.length === 0 && !named.has(name))).toHaveLength(6);
    expect(islands.filter(({ seconds }) => seconds === 0).length).toBeGreaterThan(5);
  });

  test.each(graphs)("%s ends as the oracle says, and its tasks run once, in their order", async (graph) => {
    const on = await stageOf(app, { lane: "cluster" });
    await startWorkflow(on, graph, day);
    await runAll(on);
    const file = readGraphFile(graph);
    expect(await statesOf(on, `${day}:${graph}`)).toEqual(Object.fromEntries(expectedEnds(file)));
    const lines = readLedger(services.home, "dag-batch-services").filter((line) => line["graph"] === graph);
    const ended = lines.filter(({ outcome }) => outcome === "ended").map((line) => String(line["task"]));
    expect(new Set(ended).size).toBe(ended.length);
  });

  test("resume goes on from the failure and repeats nothing that succeeded", async () => {
    const on = await stageOf(app, { lane: "cluster" });
    const other = "2031-05-07";
    await startWorkflow(on, "broken", other);
    await runAll(on);
    const key = `${other}:broken`;
    const run = await runOf(on, key);
    expect(run.status).toBe("FAILED");
    const tries = "select coalesce(sum(attempt), 0)::int as n from belfry.job where state = 'SUCCESS' and run_id = $1";
    const before = (await on.db.pool.query<{ n: number }>(tries, [run.id])).rows[0]?.n;
    const again = await on.db.store.resumeRun(run.id, {});
    expect(again.ids.length).toBeGreaterThan(1);
    await runAll(on);
    // The cluster refuses the same task again, so it ends where it was, and what had succeeded was left alone.
    expect(await statesOf(on, key)).toEqual(Object.fromEntries(expectedEnds(readGraphFile("broken"))));
    expect((await on.db.pool.query<{ n: number }>(tries, [run.id])).rows[0]?.n).toBe(before);
  });

  test("a file that changes in the middle of a run touches only the next run", async () => {
    const on = await stageOf(app, { lane: "cluster" });
    const when = "2031-05-08";
    await startWorkflow(on, "islands", when);
    const planned = Object.keys(await statesOf(on, `${when}:islands`));
    const definition = on.registry.jobs.get("workflow");
    if (definition?.body.is !== "dataGraph") throw new Error("the workflow plans no runs");
    const { body } = definition;
    // The next release: version 2, with a task more.
    const tasksOf = async (input: unknown) => [...readGraph("workflow", await body.tasksOf(input)), { name: "added" }];
    const next = { ...definition, body: { ...body, version: 2, tasksOf } };
    const release = { ...on.registry, jobs: new Map([...on.registry.jobs, ["workflow", next]]) };
    await on.work();
    expect(await runOf(on, `${when}:islands`)).toMatchObject({ status: "RUNNING" });
    const options = { stage: "demo" };
    const newer = createWorker(on.world, release, { ...options, worker: "newer", lane: "cluster" });
    await runAll(on, newer);
    const first = await runOf(on, `${when}:islands`);
    expect(first).toMatchObject({ status: "DONE", dag_version: 1 });
    expect(Object.keys(await statesOf(on, `${when}:islands`)).toSorted()).toEqual(planned.toSorted());
    await rerunRun(on.world, release, first.id, options);
    await runAll(on, newer);
    const second = await runOf(on, `${when}:islands#2`);
    expect(second).toMatchObject({ status: "DONE", dag_version: 2, rerun_of: first.id });
    expect(await statesOf(on, `${when}:islands#2`)).toHaveProperty("added", "DONE");
  });

  test("a graph with a cycle is refused with its path, and nothing of it is started", () => {
    const broken = [
      { name: "a", after: ["c"] },
      { name: "b", after: ["a"] },
      { name: "c", after: ["b"] },
    ];
    expect(() => readGraph("workflow", broken)).toThrow(/a.*c|c.*a/);
    expect(() => readGraphFile("../secrets")).toThrow(/not the name of a graph/);
    expect(() => readGraphFile("nowhere")).toThrow(/cannot be read/);
  });
});

/** The starter runs in the default lane, the tasks in the cluster's. */
async function startWorkflow(on: ExampleStage, graph: string, when: string): Promise<void> {
  await on.enqueue("workflow", { graph, day: when });
  const records = on.world.queue.receive("cluster", 10).length > 0 ? [] : on.world.queue.receive("default", 10);
  await on.another("starter").handle(records, { remainingMs: () => 600_000 });
}

/** Tasks on the longest chain that ends at each. */
function levels(tasks: readonly FileTask[]): ReadonlyMap<string, number> {
  const known = new Map(tasks.map((task) => [task.name, task]));
  const found = new Map<string, number>();
  const levelOf = (name: string): number => {
    const before = found.get(name);
    if (before !== undefined) return before;
    const level = 1 + Math.max(0, ...(known.get(name)?.after ?? []).map(levelOf));
    found.set(name, level);
    return level;
  };
  for (const { name } of tasks) levelOf(name);
  return found;
}
