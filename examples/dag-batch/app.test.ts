import { createTestSystem } from "belfry/testing";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { readLedger } from "../fake/ledger.ts";
import { type FakeProcess, startFake } from "../fake/start.ts";
import app from "./app.ts";
import { bankDifference, shops, statementTreatment } from "./input.ts";
import { seed } from "./seed.ts";

let services: FakeProcess;
beforeAll(async () => {
  services = await startFake(new URL("./fakes/services.ts", import.meta.url), { BELFRY_TIME_SCALE: "1000" });
  process.env["DAG_SERVICES_URL"] = services.env["DAG_SERVICES_URL"];
});
afterAll(() => services.stop());

test("at 07:50 in Seoul each shop's day is settled, and takes the branch that its difference asks for", async () => {
  // 07:49 in Seoul.
  await using system = await createTestSystem({
    apps: [app],
    stage: "demo",
    at: "2031-05-05T22:49:00Z",
    databaseUrl: inject("postgresUrl"),
  });
  await seed(system.database);
  // Past the bank's late answers, before the graphs of 07:51.
  await system.advance({ to: "2031-05-05T22:50:55Z" });
  const { rows } = await system.database.query<{ shop: string; status: string; review: string }>(
    `select split_part(biz_key, ':', 2) as shop, batch.status, case when not_taken then 'NOT_TAKEN' else evt.status end as review
     from dag_batch.batch_instance as batch join dag_batch.outbox_evt as evt on batch_id = batch.id
     where biz_key like '2031-05-05:shop-%' and task_key = 'review' order by 1`,
  );
  const wordOf = (shop: string) => {
    if (statementTreatment(shop) === "missing") return { shop, status: "FAILED", review: "SKIPPED" };
    const review = bankDifference(shop) === 0 ? "NOT_TAKEN" : "DONE";
    return { shop, status: "DONE", review };
  };
  expect(rows).toEqual(shops.map(wordOf));
  const published = readLedger(services.home, "dag-batch-services").filter((line) => line["what"] === "settlement");
  expect(published.map((line) => String(line["shop"])).toSorted((a, b) => a.localeCompare(b))).toEqual([...shops]);
});
