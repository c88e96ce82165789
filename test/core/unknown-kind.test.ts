import { describe, expect, test } from "vitest";
import { defineJob } from "../../src/compose/index.ts";
import { workerLimits } from "../../src/run/worker-limits.ts";
import { acknowledge, jobOf, shop, type Shop, down, withStore } from "./world.ts";

const minute = 60_000;

/** A job of a release that this lane's worker does not have yet: the older worker and the newer one. */
async function releases() {
  const ran: number[] = [];
  const report = defineJob({ id: "report", retry: { maxAttempts: 1 }, run: (_, ctx) => void ran.push(ctx.attempt) });
  const newer = await shop([report]);
  const older = await shop([], newer.world);
  const id = await newer.enqueue(report, undefined);
  const { clock } = newer.world;
  return { newer, older, id, ran, clock, row: () => jobOf(newer.world, id) };
}

/** A minute of the lane's life with one kind of worker. */
async function live({ world: ports, worker, receive }: Shop, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 5_000) {
    await ports.clock.advance(5_000);
    const records = receive();
    acknowledge(ports, records, (await worker.handle(records, { remainingMs: () => 600_000 })).failed);
  }
}

describe("a job whose kind a worker does not know", () => {
  test("waits for a worker that does, while a release may be on its way, and pays no try for it", async () => {
    const { newer, older, ran, row } = await releases();
    await live(older, minute);
    expect(await row()).toMatchObject({
      state: "QUEUED",
      failures: 0,
      interruptions: 0,
      errorCode: "UNKNOWN_KIND",
      errorMessage: expect.stringContaining('no definition "report" in this release'),
    });
    await live(newer, 2 * minute);
    expect(await row()).toMatchObject({ state: "SUCCESS", failures: 0 });
    expect(ran).toHaveLength(1);
  });

  test("is asked for seldom, and FAILED with what to do once no release can be on its way any more", async () => {
    const { older, row } = await releases();
    await live(older, workerLimits.unknownKindMs + 2 * minute);
    expect(await row()).toMatchObject({
      state: "FAILED",
      failures: 1,
      errorCode: "UNKNOWN_KIND",
      errorMessage: expect.stringContaining("deploy the code that defines it, then retry the job"),
    });
    expect((await row()).attempt).toBeLessThan(30);
  });

  test("is FAILED at once when it was made long ago: its kind was taken out of the code", async () => {
    const { older, clock, row } = await releases();
    await clock.advance(workerLimits.unknownKindMs + minute);
    await live(older, 5_000);
    expect(await row()).toMatchObject({ state: "FAILED", attempt: 1, errorCode: "UNKNOWN_KIND" });
  });

  test("waits also when its age is unknown", async () => {
    const ports = withStore(() => ({ job: down }));
    const report = defineJob({ id: "report", run: () => {} });
    const newer = await shop([report], ports);
    const id = await newer.enqueue(report, undefined);
    const older = await shop([], ports);
    await live(older, 5_000);
    expect(await ports.store.peek([id])).toMatchObject([{ state: "QUEUED" }]);
  });
});
