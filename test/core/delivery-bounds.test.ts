import { describe, expect, test } from "vitest";
import { defineJob, definitionOf } from "../../src/core/define/define-job.ts";
import { contractLimits } from "../../src/core/job/contract-limits.ts";
import { deliveryLimits } from "../../src/core/ports/delivery-limits.ts";
import { FenceLost, type Store } from "../../src/core/ports/ports.ts";
import { createClient, prepare } from "../../src/core/delivery/enqueue.ts";
import { requeueLost, saveObservations } from "../../src/core/delivery/requeue.ts";
import { registry } from "../../src/core/define/definition.ts";
import { defineApp } from "../../src/core/define/define-app.ts";
import { lane, world } from "./world.ts";

const plain = defineJob({ id: "plain", run: () => {} });
const capped = defineJob({ id: "capped", concurrency: 2, run: () => {} });
const definition = definitionOf(plain);

describe("when a job is due", () => {
  const prepared = (item: object) => prepare(definition, { stage: "test", trace: "t" }, [{ payload: null, ...item }]);

  test.each([0, 1, contractLimits.dueAtMsMax - 1, contractLimits.dueAtMsMax])("dueAt %d is taken", async (at) => {
    expect(await prepared({ dueAt: new Date(at) })).toMatchObject([{ dueAt: at }]);
  });

  test.each([-1, contractLimits.dueAtMsMax + 1])("dueAt %d is refused", async (at) => {
    await expect(prepared({ dueAt: new Date(at) })).rejects.toThrow(/must lie between the years 1970 and 9999/);
  });

  test.each([0, 1, contractLimits.delayMsMax - 1, contractLimits.delayMsMax])("delay %d is taken", async (delayMs) => {
    expect(await prepared({ delayMs })).toMatchObject([{ delayMs }]);
  });

  test.each([-1, contractLimits.delayMsMax + 1, Number.NaN])("delay %d is refused", async (delayMs) => {
    await expect(prepared({ delayMs })).rejects.toThrow(/must lie between 0 and/);
  });
});

describe("what an enqueue asks of the store", () => {
  function asking() {
    const slots: number[] = [];
    const inserts: unknown[] = [];
    const traces: string[] = [];
    const ports = world(({ store }) => {
      const over: Partial<Store> = {
        installSlots: async (groups) => void slots.push(groups.length),
        insert: async (jobs, options) => {
          inserts.push(options);
          traces.push(...jobs.map((job) => job.trace));
          return await store.insert(jobs, {});
        },
      };
      return { store: Object.assign({}, store, over) };
    });
    return { client: createClient(ports, { stage: "test" }), slots, inserts, traces };
  }
  const items = [{ payload: null }];

  test("are the slots of a kind once, and none of a kind without", async () => {
    const { client, slots } = asking();
    for (const job of [plain, capped, plain, capped]) await client.enqueue(definitionOf(job), items);
    expect(slots).toEqual([1]);
  });

  test("is the map's version where there is one, and nothing for no jobs", async () => {
    const { client, inserts } = asking();
    await client.enqueue(definition, items);
    await client.enqueue(definition, items, { mapVersion: 3 });
    await client.enqueue(definition, items, { mapVersion: 3, cell: "eu" });
    expect(inserts).toStrictEqual([{}, { mapVersion: 3 }, { mapVersion: 3 }]);
    expect(await client.enqueue(definition, [])).toEqual([]);
    expect(inserts).toHaveLength(3);
  });

  test("keeps the caller's trace", async () => {
    const { client, traces } = asking();
    await client.enqueue(definition, items, { trace: "mine" });
    await client.enqueue(definition, items);
    expect(traces).toEqual(["mine", "id-1"]);
  });

  test("is nothing where a cell is named without a map", async () => {
    const { client, inserts } = asking();
    await expect(client.enqueue(definition, items, { cell: "eu" })).rejects.toThrow('cell of "plain" is "eu"');
    expect(inserts).toEqual([]);
  });
});

describe("the search for lost messages", () => {
  const jobs = registry([defineApp({ name: "test", jobs: [plain] })]);

  /** An empty queue but for `delayed` messages, looked at when it has long been so. */
  async function search(delayed: number, notYetDue: number, lost: () => number = () => 0) {
    const asked: number[] = [];
    const counted: number[] = [];
    const ports = world(({ store, queue }) => {
      const over: Partial<Store> = {
        requeueLost: async ({ evidence, olderThanMs }) => {
          if (evidence === "overtaken") return 0;
          asked.push(olderThanMs);
          return lost();
        },
        countNotYetDue: async ({ limit }) => (counted.push(limit), notYetDue),
      };
      return {
        store: Object.assign({}, store, over),
        queue: { ...queue, depth: async () => ({ visible: 0, inFlight: 0, delayed }) },
      };
    });
    const since = ports.clock.elapsedMs();
    await ports.clock.advance(deliveryLimits.unclaimedMs);
    const answer = await requeueLost(ports, jobs, new Map([[lane, since]]), {});
    const measured = ports.measured.filter(({ name }) => name === "rescue.messages.lost").length;
    return { answer, asked, counted, measured };
  }

  const most = deliveryLimits.notYetDueRowsMax;
  test.each([
    [0, 0, deliveryLimits.unclaimedMs, []],
    [1, 0, deliveryLimits.lateMessageMs, [1]],
    [1, 1, deliveryLimits.unclaimedMs, [1]],
    [most, most, deliveryLimits.unclaimedMs, [most]],
    [most + 1, most + 1, deliveryLimits.lateMessageMs, []],
  ])("with %d delayed messages and %d rows not yet due takes rows of %d ms", async (delayed, rows, ms, counted) => {
    expect(await search(delayed, rows)).toMatchObject({ asked: [ms], counted });
  });

  test.each([0, 1, 2])("that found %d says so in a metric if there are any", async (found) => {
    expect(await search(0, 0, () => found)).toMatchObject({
      answer: { requeued: found },
      measured: Math.min(1, found),
    });
  });

  test("ends with a lost fence, and goes on after any other failure", async () => {
    const failing = (error: Error) =>
      search(0, 0, () => {
        throw error;
      });
    await expect(failing(new FenceLost("newer"))).rejects.toBeInstanceOf(FenceLost);
    expect((await failing(new Error("away"))).answer).toEqual({ requeued: 0, "requeue.failed": 1 });
  });

  test("saves for how long each queue has been empty", async () => {
    const saved: unknown[] = [];
    const ports = world(({ store }) => ({
      store: Object.assign({}, store, { saveQueueObservations: async (seen: unknown) => void saved.push(seen) }),
    }));
    const since = ports.clock.elapsedMs();
    await ports.clock.advance(700);
    await saveObservations(ports, new Map([[lane, since]]));
    await ports.clock.advance(300);
    await saveObservations(ports, new Map([[lane, since + 700]]));
    expect(saved).toEqual([[{ lane, emptyMs: 700 }], [{ lane, emptyMs: 300 }]]);
  });
});
