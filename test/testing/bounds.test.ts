import { defineApp, defineJob, type Context } from "belfry";
import { createTestSystem } from "belfry/testing";
import { expect, inject, test } from "vitest";

const at = "2031-01-01T08:00:00Z";

test("150 jobs with transactions are three batches, four transactions side by side", async () => {
  let inside = 0;
  const four = Promise.withResolvers<void>();
  const bill = defineJob({
    id: "bill",
    run: (_, ctx) =>
      ctx.tx(async (tx) => {
        if (++inside === 4) four.resolve();
        await four.promise;
        await tx.query("insert into bill default values");
      }),
  });
  const apps = [defineApp({ name: "shop", jobs: [bill] })];
  await using system = await createTestSystem({ apps, at, databaseUrl: inject("postgresUrl"), batchesMax: 3 });
  await system.database.query("create table bill (id bigint generated always as identity)");
  await bill.enqueueAll(Array.from({ length: 150 }, () => ({ payload: undefined })));
  const later = { payload: undefined, options: { delay: "1h" } } as const;
  for (const _ of [1, 2]) await bill.enqueueAll(Array.from({ length: 500 }, () => later));
  const waiting = (await system.enqueued(bill)).map(({ id }) => BigInt(id));
  expect(waiting).toHaveLength(1_150);
  expect(waiting).toEqual(waiting.toSorted((a, b) => Number(a - b)));
  expect((await system.drain()).filter(({ state }) => state === "SUCCESS")).toHaveLength(150);
  const { rows } = await system.database.query("select count(*)::int as n from bill");
  expect(rows).toEqual([{ n: 150 }]);
});

test.each([0, 1.5, Number.NaN])("a bound of %d batches is refused, and so is as many failures", async (batchesMax) => {
  const ping = defineJob({ id: "ping", run: () => {} });
  const apps = [defineApp({ name: "shop", jobs: [ping] })];
  await expect(createTestSystem({ apps, batchesMax })).rejects.toThrow("batchesMax is");
  await using system = await createTestSystem({ apps, at, databaseUrl: inject("postgresUrl") });
  expect(() => system.fail(ping, new Error("busy"), batchesMax)).toThrow("it must be a whole number from 1");
});

test("work that never ends is an error that names what kept the test busy", async () => {
  const again = async (_: unknown, ctx: Context): Promise<void> => {
    await ctx.enqueue(ping, undefined);
  };
  const ping = defineJob({ id: "ping", run: again });
  const once = defineJob({ id: "once", run: () => {} });
  const apps = [defineApp({ name: "shop", jobs: [ping, once] })];
  await using system = await createTestSystem({ apps, at, databaseUrl: inject("postgresUrl"), batchesMax: 20 });
  await once.enqueue();
  await ping.enqueue();
  const said =
    /within 20 batches, and it is 2031-01-01T08:00:00.000Z: \d+ attempts of "ping" and 1 of others have ended/;
  await expect(system.advance("1h")).rejects.toThrow(said);
});
