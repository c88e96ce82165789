import { createTestSystem, type TestSystem } from "belfry/testing";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { readLedger } from "../fake/ledger.ts";
import { type FakeProcess, startFake } from "../fake/start.ts";
import app, { task } from "./app.ts";
import type { TaskPayload } from "./task.ts";

let publisher: FakeProcess;
beforeAll(async () => {
  publisher = await startFake(new URL("./fakes/publisher.ts", import.meta.url));
  process.env["TASKFLOW_PUBLISHER_URL"] = publisher.env["TASKFLOW_PUBLISHER_URL"];
});
afterAll(() => publisher.stop());

const newSystem = (): Promise<TestSystem> => createTestSystem({ apps: [app], databaseUrl: inject("postgresUrl") });

const callsOf = (report: string) =>
  readLedger(publisher.home, "taskflow-publisher").filter((entry) => entry["report"] === report);

async function storedOf(
  { database }: TestSystem,
  id: string,
): Promise<{ reports: number; attempts: readonly string[] }> {
  const reports = await database.query("select from taskflow.report where job_id = $1", [id]);
  const text = "select outcome from taskflow.job_attempt where job_id = $1 order by attempt";
  const attempts = await database.query<{ outcome: string }>(text, [id]);
  return { reports: reports.rowCount ?? 0, attempts: attempts.rows.map(({ outcome }) => outcome) };
}

test.each<[TaskPayload["type"], string, number, readonly string[]]>([
  ["succeed", "SUCCESS", 1, ["success"]],
  ["flaky", "SUCCESS", 1, ["retry", "retry", "success"]],
  ["rejected", "FAILED", 0, ["failed"]],
])("a report that %s ends %s with %i row, and a line for each try", async (type, state, reports, attempts) => {
  await using system = await newSystem();
  const { id } = await task.enqueue({ type, report: `report-${type}` });
  await system.advance("5m");
  expect(await system.job(id)).toMatchObject({ state, attempt: attempts.length });
  expect(await storedOf(system, id)).toEqual({ reports, attempts });
});

test("a worker that dies takes no report along: the next one publishes it, and the row is written once", async () => {
  await using system = await newSystem();
  system.crash("claimed");
  const { id } = await task.enqueue({ type: "succeed", report: "orphan" });
  await system.advance("5m");
  expect(await storedOf(system, id)).toEqual({ reports: 1, attempts: ["lost", "success"] });
  expect(callsOf("orphan").map(({ key, outcome }) => [key, outcome])).toEqual([[`${id}:publish`, "published"]]);
});
