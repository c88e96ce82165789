import { defineApp, defineJob, defineLimit } from "belfry";
import { createTestSystem, runJob } from "belfry/testing";
import { expect, inject, test } from "vitest";

const stripe = defineLimit("stripe", { rate: { limit: 2, per: "1m" } });
const charge = defineJob({ id: "charge", limits: [stripe], run: () => {} });
const refund = defineJob({ id: "refund", limits: [stripe], run: () => {} });
const report = defineJob({ id: "report", run: async (_, { limit }) => await limit("stripe") });
const app = defineApp({ name: "shop", jobs: [charge, refund, report] });

test("jobs of two kinds and the calls of a third share one limit", async () => {
  await using system = await createTestSystem({
    apps: [app],
    at: "2031-01-01T08:00:00Z",
    databaseUrl: inject("postgresUrl"),
  });
  const shown = (ran: Awaited<ReturnType<typeof system.drain>>) => ran.map(({ kind, state }) => `${kind} ${state}`);
  await charge.enqueueAll([{ payload: undefined }]);
  expect(shown(await system.drain())).toEqual(["charge SUCCESS"]);
  await report.enqueue(undefined);
  expect(shown(await system.drain())).toEqual(["report SUCCESS"]);
  const { id } = await report.enqueue(undefined);
  await charge.enqueue(undefined);
  await refund.enqueue(undefined);
  expect(shown(await system.drain())).toEqual(["report RETRY_WAIT"]);
  expect(await system.job(id)).toMatchObject({ errorCode: "RATE_LIMITED", failures: 0 });
  // The waiting jobs have the next two units, and the call the one behind them.
  expect(shown(await system.advance("59s"))).toEqual([]);
  const ran = shown(await system.advance("5s"));
  expect(ran.toSorted()).toEqual(["charge SUCCESS", "refund SUCCESS"]);
  expect(shown(await system.advance("1m")).at(-1)).toBe("report SUCCESS");
});

test("runJob lets a call go at once", async () => {
  expect(await runJob(report, undefined)).toMatchObject({ error: undefined });
});
