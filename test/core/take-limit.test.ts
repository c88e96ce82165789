import { expect, test } from "vitest";
import { defineJob } from "../../src/define/define-job.ts";
import { RateLimited } from "../../src/define/errors.ts";
import { defineLimit } from "../../src/define/limit.ts";
import type { Context } from "../../src/define/context.ts";
import { jobOf, shop, withStore, world } from "./world.ts";

const stripe = defineLimit("stripe", { rate: { limit: 1, per: "10s" } });
const tenants = defineLimit("tenants", { rate: { limit: 1, per: "10s" }, byKey: true });
const places = defineLimit("places", { concurrency: 1 });
/** Its jobs take a unit of each when they start. */
const naming = defineJob({
  id: "naming",
  limits: [stripe, places, { limit: tenants, key: () => "acme" }],
  run: () => {},
});

/** What the calls of one handler met, each at its second. */
async function calls(run: (ctx: Context) => Promise<unknown>, timeout: "60s" | "8s" = "60s", ports = world()) {
  const at: (string | number)[] = [];
  const job = defineJob({
    id: "job",
    timeout,
    async run(_, ctx) {
      try {
        await run({
          ...ctx,
          limit: async (...given) => void (await ctx.limit(...given), at.push(ports.clock.elapsedMs() / 1_000)),
        });
      } catch (error) {
        at.push(String(error instanceof Error ? error.message : error));
        throw error;
      }
    },
  });
  const { enqueue, work } = await shop([job, naming], ports);
  const id = await enqueue(job, undefined);
  const batch = work();
  await ports.clock.advance(60_000);
  await batch;
  return { at, ports, job: await jobOf(ports, id) };
}

test("a call waits for its unit, and each call takes another", async () => {
  const { at, job } = await calls(async ({ limit }) => {
    for (let call = 0; call < 3; call += 1) await limit("stripe");
  });
  expect(at).toEqual([0, 10, 20]);
  expect(job).toMatchObject({ state: "SUCCESS", attempt: 1 });
});

test("a call that would wait for more than half of what is left takes nothing: the job is tried again at the time, and loses no attempt", async () => {
  const { at, job } = await calls(async ({ limit }) => {
    await limit("stripe");
    await limit("stripe");
  }, "8s");
  expect(at).toEqual([0, expect.stringContaining("limit stripe has no room before 2031-05-06T07:08:19.000Z")]);
  expect(job).toMatchObject({
    state: "QUEUED",
    attempt: 1,
    failures: 0,
    interruptions: 0,
    errorCode: "RATE_LIMITED",
  });
  expect(new Date(job.dueAt).toISOString()).toBe("2031-05-06T07:08:19.000Z");
});

test("the keys of a limit by key have each their own", async () => {
  const { at } = await calls(async ({ limit }) => {
    for (const key of ["a", "b", "a"]) await limit("tenants", { key });
  });
  expect(at).toEqual([0, 0, 10]);
});

test("units that are free and that a claim has locked are looked at again", async () => {
  let looks = 0;
  const ports = withStore((store) => ({
    async takeUnit(...given) {
      const unit = await store.takeUnit(...given);
      looks += 1;
      return looks === 1 && unit !== null ? { ...unit, isTaken: false } : unit;
    },
  }));
  await calls(async ({ limit }) => await limit("stripe"), "60s", ports);
  expect(looks).toBe(2);
});

test("a unit that always goes to another is waited for until half of the time, whatever the number of looks", async () => {
  const ports = withStore((store) => ({
    async takeUnit(...given) {
      const unit = await store.takeUnit(...given);
      return unit === null ? null : { ...unit, isTaken: false, waitMs: 900 };
    },
  }));
  const from = ports.clock.elapsedMs();
  let endedMs = 0;
  const { job } = await calls(
    ({ limit }) => limit("stripe").finally(() => (endedMs = ports.clock.elapsedMs() - from)),
    "60s",
    ports,
  );
  expect(job).toMatchObject({ failures: 0, errorCode: "RATE_LIMITED" });
  expect(endedMs).toBeGreaterThan(29_000);
  expect(endedMs).toBeLessThanOrEqual(30_000);
});

test.each<[string, (ctx: Context) => Promise<unknown>]>([
  [
    'there is no limit "strype": there are stripe, places, tenants; add it to the limits of the app',
    ({ limit }) => limit("strype"),
  ],
  ['limit "places" has no rate to take from: name it in the limits of job "job"', ({ limit }) => limit("places")],
  ['limit "tenants" is by key: pass { key }', ({ limit }) => limit("tenants")],
  ['limit "stripe" is not by key: leave the key out', ({ limit }) => limit("stripe", { key: "a" })],
  [
    'payload of "job" is invalid: ctx.limit("tenants"): answered "" (0 characters) for it; a key is a text of 1 to 200 characters without NUL or half a surrogate pair',
    ({ limit }) => limit("tenants", { key: "" }),
  ],
])("a call may not be wrong: %s", async (message, run) => {
  expect((await calls(run)).at).toEqual([message]);
});

test("its error is known by its class in every copy of the package", () => {
  expect(new RateLimited("stripe", 0, 5)).toBeInstanceOf(RateLimited);
  expect(new Error("stripe")).not.toBeInstanceOf(RateLimited);
});
