import { createTestSystem, type TestSystem } from "belfry/testing";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { readLedger } from "../fake/ledger.ts";
import { type FakeProcess, startFake } from "../fake/start.ts";
import app, { task } from "./app.ts";
import type { TaskPayload } from "./task.ts";

let publisher: FakeProcess;
beforeAll(async () => {
  publisher = await startFake(new URL("./fakes/publisher.ts", import.meta.url), { BELFRY_TIME_SCALE: "100" });
  process.env["TASKFLOW_PUBLISHER_URL"] = publisher.env["TASKFLOW_PUBLISHER_URL"];
});
afterAll(() => publisher.stop());

async function newSystem(): Promise<TestSystem> {
  const system = await createTestSystem({ apps: [app], databaseUrl: inject("postgresUrl") });
  return system;
}

const callsOf = (report: string) =>
  readLedger(publisher.home, "taskflow-publisher").filter((entry) => entry["report"] === report);

async function storedOf(
  { database }: TestSystem,
  id: string,
): Promise<{ reports: number; attempts: readonly string[] }> {
  const reports = await database.query("select from taskflow.report where job_id = $1", [id]);
  const text = "select error_code, status from taskflow.job_attempts where job_id = $1 order by attempt_no";
  const attempts = await database.query<{ error_code: string | null; status: string }>(text, [id]);
  const ends = attempts.rows.map(({ error_code: code, status }) => code ?? status);
  return { reports: reports.rowCount ?? 0, attempts: ends };
}

test.each<[TaskPayload["type"], string, number, readonly string[]]>([
  ["succeed", "SUCCESS", 1, ["SUCCESS"]],
  ["flaky", "SUCCESS", 1, ["HTTP_503", "HTTP_503", "SUCCESS"]],
  ["rejected", "FAILED", 0, ["HTTP_422"]],
])("a report that %s ends %s with %i row, and a line for each try", async (type, state, reports, attempts) => {
  await using system = await newSystem();
  const { id } = await task.enqueue({ type, report: `report-${type}` });
  await system.advance("5m");
  expect(await system.job(id)).toMatchObject({ state, attempt: attempts.length });
  expect(await storedOf(system, id)).toEqual({ reports, attempts });
});

test("a report that fails for a while has four attempts, with waits of at most one second, two and four", async () => {
  await using system = await newSystem();
  system.fail(task, new Error("not now"), 9);
  const { id } = await task.enqueue({ type: "succeed", report: "unlucky" });
  await system.advance("5m");
  const text = `select extract(epoch from started_at - lag(ended_at) over (order by attempt_no))::float8 as seconds
    from taskflow.job_attempts where job_id = $1 order by attempt_no offset 1`;
  const waits = (await system.database.query<{ seconds: number }>(text, [id])).rows.map(({ seconds }) => seconds);
  // Jitter takes the upper half of each wait.
  expect(waits.map((seconds, n) => seconds > 2 ** n / 2 - 0.1 && seconds < 2 ** n + 0.1)).toEqual([true, true, true]);
  expect(await system.job(id)).toMatchObject({ state: "FAILED", attempt: 4 });
});

test("a report has its four parts, each kept when it is there", async () => {
  await using system = await newSystem();
  const { id } = await task.enqueue({ type: "succeed", report: "kept" });
  await system.advance("5m");
  expect(await system.job(id)).toMatchObject({ state: "SUCCESS", result: { parts: 4 } });
  const { rows } = await system.database.query("select n from taskflow.part where name = 'kept' order by n");
  expect(rows).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }]);
});

test("a worker that dies takes no report along: the next one publishes it, and the row is written once", async () => {
  await using system = await newSystem();
  system.crash("claimed");
  const { id } = await task.enqueue({ type: "succeed", report: "orphan" });
  await system.drain();
  const left = await system.database.query("select status, next_run_at from taskflow.jobs where id = $1", [id]);
  expect(left.rows).toEqual([{ status: "RUNNING", next_run_at: null }]);
  await system.advance("5m");
  expect(await storedOf(system, id)).toEqual({ reports: 1, attempts: ["WORKER_LOST", "SUCCESS"] });
  expect(callsOf("orphan").map(({ key, outcome }) => [key, outcome])).toEqual([[`${id}:publish`, "published"]]);
});
