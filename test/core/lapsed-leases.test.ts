import { contractLimits } from "../../src/machine/contract-limits.ts";
import { deliveryLimits } from "../../src/machine/delivery-limits.ts";
import { describe, expect, test } from "vitest";
import { defineJob } from "../../src/define/define-job.ts";
import { createLapsedLeases, rescue } from "../../src/run/rescue.ts";
import { referenceStore } from "../support/reference-store.ts";
import { jobOf, shop, world } from "./world.ts";

const lease = (id: string, until: number, ms = 3_000) => ({ id, until: until as never, ms });

describe("a lease is rescued", () => {
  test("when it stood expired and unchanged between two looks", () => {
    const lapsed = createLapsedLeases();
    expect(lapsed.look([lease("1", 10)], 0)).toEqual([]);
    expect(lapsed.look([lease("1", 10)], deliveryLimits.rescueLookMs - 1)).toEqual([]);
    expect(lapsed.look([lease("1", 10)], deliveryLimits.rescueLookMs)).toEqual(["1"]);
  });

  test("at the first look, when its worker is known to be dead", () => {
    expect(createLapsedLeases().look([lease("1", 0), lease("2", 10)], 0)).toEqual(["1"]);
  });

  test("no sooner than its worker would have renewed it, and after 20 s at most", () => {
    const lapsed = createLapsedLeases();
    const leases = [lease("20 s", 10, 20_000), lease("an hour", 10, 3_600_000)];
    expect(lapsed.look(leases, 0)).toEqual([]);
    expect(lapsed.look(leases, 7_600)).toEqual([]);
    expect(lapsed.look(leases, 7_700)).toEqual(["20 s"]);
    expect(lapsed.look(leases, 20_000)).toEqual(["20 s", "an hour"]);
  });

  test("not when its worker renewed it between the looks", () => {
    const lapsed = createLapsedLeases();
    lapsed.look([lease("1", 10)], 0);
    expect(lapsed.look([lease("1", 20)], deliveryLimits.rescueLookMs)).toEqual([]);
    lapsed.look([], 2 * deliveryLimits.rescueLookMs);
    expect(lapsed.look([lease("1", 20)], 3 * deliveryLimits.rescueLookMs)).toEqual([]);
  });
});

test("a database clock that jumps ahead by a lease takes no job from a live worker", async () => {
  const started = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const job = defineJob({
    id: "job",
    retry: { maxAttempts: 1 },
    run: async () => {
      started.resolve();
      await end.promise;
    },
  });
  let aheadMs = 0;
  const ports = world((base) => ({
    ...base,
    store: referenceStore(() => 1_700_000_000_000 + base.clock.elapsedMs() + aheadMs),
  }));
  const open = await shop([job], ports);
  const id = await open.enqueue(job, undefined);
  const batch = open.work();
  await started.promise;
  aheadMs = 21_000;
  const lapsed = createLapsedLeases();
  const options = { lapsed, limit: 10, rounds: 1 };
  expect(await rescue(ports, open.registry, options)).toEqual({ rescued: 0 });
  // Its next heartbeat comes within a third of its lease by its own clock.
  await ports.clock.advance(contractLimits.leaseMsDefault / 3);
  expect(await rescue(ports, open.registry, options)).toEqual({ rescued: 0 });
  end.resolve();
  expect(await batch).toEqual([]);
  expect(await jobOf(ports, id)).toMatchObject({ state: "SUCCESS", attempt: 1, failures: 0 });
});
