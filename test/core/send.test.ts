import { describe, expect, test } from "vitest";
import type { JobId } from "../../src/machine/job.ts";
import { deliveryLimits } from "../../src/machine/delivery-limits.ts";
import type { OutboxBatch, OutMessage } from "../../src/machine/outbox.ts";
import type { Queue } from "../../src/machine/ports.ts";
import type { Store } from "../../src/machine/store.ts";
import { sendOutbox } from "../../src/run/send.ts";
import { world, type World } from "./world.ts";

interface Sent {
  readonly ports: World;
  readonly calls: { readonly lane: string; readonly messages: readonly OutMessage[] }[];
  readonly confirmed: { readonly id: string; readonly failed: readonly JobId[] }[];
  /** What it asked to keep, in order. */
  readonly kept: Parameters<Store["keep"]>[0][];
  /** The most calls that were under way at once. */
  busiest(): number;
}

function sending(answer: Queue["send"] = async () => ({ failed: [] }), over: Partial<Store> = {}): Sent {
  const calls: { lane: string; messages: readonly OutMessage[] }[] = [];
  const confirmed: { id: string; failed: readonly JobId[] }[] = [];
  const kept: Parameters<Store["keep"]>[0][] = [];
  let under = 0;
  let busiest = 0;
  const ports = world((base) => ({
    queue: Object.assign({}, base.queue, {
      send: (async (lane, messages) => {
        calls.push({ lane, messages });
        busiest = Math.max(busiest, ++under);
        try {
          await Promise.resolve();
          return await answer(lane, messages);
        } finally {
          under -= 1;
        }
      }) satisfies Queue["send"],
    }),
    store: Object.assign({}, base.store, {
      confirm: async (sent) => void confirmed.push(...sent),
      keep: async (batches) => (kept.push(batches), new Set(batches.map(({ id }) => id))),
      ...over,
    } satisfies Partial<Store>),
  }));
  return { ports, calls, confirmed, kept, busiest: () => busiest };
}

let nextId = 0;
const openBatch = (id: string, lane: string, messages: number): OutboxBatch => ({
  id,
  resent: 0,
  lane,
  messages: Array.from({ length: messages }, () => ({
    jobId: String(++nextId) as JobId,
    generation: 1,
    trace: "t",
    delayMs: 0,
  })),
});

describe("sending outbox batches", () => {
  test("goes by ten, never mixes lanes, and confirms every outbox batch that was accepted", async () => {
    const { ports, calls, confirmed } = sending();
    const accepted = await sendOutbox(ports, [
      openBatch("h1", "a", 13),
      openBatch("h2", "b", 2),
      openBatch("h3", "a", 9),
    ]);
    expect(accepted).toBe(24);
    expect(calls.map((call) => [call.lane, call.messages.length])).toEqual([
      ["a", 10],
      ["a", 10],
      ["b", 2],
      ["a", 2],
    ]);
    expect(confirmed).toEqual([
      { id: "h1", failed: [] },
      { id: "h2", failed: [] },
      { id: "h3", failed: [] },
    ]);
  });

  test("keeps only a few calls under way", async () => {
    const { ports, busiest } = sending();
    await sendOutbox(ports, [openBatch("h1", "a", 200)]);
    expect(busiest()).toBe(deliveryLimits.sendConcurrencyMax);
  });

  test("leaves open what the queue refused although it answered well", async () => {
    const { ports, confirmed } = sending(async () => ({ failed: [0, 2] }));
    const given = openBatch("h1", "a", 4);
    expect(await sendOutbox(ports, [given])).toBe(2);
    expect(confirmed).toEqual([{ id: "h1", failed: [given.messages[0]?.jobId, given.messages[2]?.jobId] }]);
  });

  test("leaves open the messages of a call that threw, and goes on with the others", async () => {
    let call = 0;
    const { ports, confirmed } = sending(async () => {
      if (++call === 1) throw new Error("socket hang up");
      return { failed: [] };
    });
    const given = openBatch("h1", "a", 12);
    expect(await sendOutbox(ports, [given])).toBe(2);
    expect(confirmed[0]?.failed).toEqual(given.messages.slice(0, 10).map((message) => message.jobId));
    expect(ports.lines.map((line) => line.level)).toEqual(["warn"]);
  });

  test("stops calling for a lane whose queue does not answer, and sends the other lanes' messages", async () => {
    const { ports, calls, confirmed } = sending(async (lane) => {
      if (lane === "away") throw new Error("no answer");
      return { failed: [] };
    });
    expect(await sendOutbox(ports, [openBatch("h1", "away", 500), openBatch("h2", "b", 30)])).toBe(30);
    expect(calls.filter((call) => call.lane === "away").length).toBeLessThanOrEqual(
      deliveryLimits.sendConcurrencyMax * 2,
    );
    expect(confirmed.map(({ id, failed }) => [id, failed.length])).toEqual([
      ["h1", 500],
      ["h2", 0],
    ]);
  });

  test.each([
    [0, 50, 500],
    [1, 50, 490],
    [deliveryLimits.sendConcurrencyMax - 1, 50, 470],
    [deliveryLimits.sendConcurrencyMax, 4, 0],
    [50, 4, 0],
  ])("of a lane whose first %d calls get no answer makes %d calls", async (unanswered, times, accepted) => {
    let asked = 0;
    const { ports, calls } = sending(async () => {
      if (++asked <= unanswered) throw new Error("no answer");
      return { failed: [] };
    });
    expect(await sendOutbox(ports, [openBatch("h1", "a", 500)])).toBe(accepted);
    expect(calls).toHaveLength(times);
  });

  test("takes no answer about a message that was not in the call", async () => {
    const { ports, confirmed } = sending(async () => ({ failed: [2] }));
    expect(await sendOutbox(ports, [openBatch("h1", "a", 2)])).toBe(2);
    expect(confirmed).toEqual([{ id: "h1", failed: [] }]);
  });

  test("does not throw when the confirmation fails: that costs a duplicate", async () => {
    const { ports } = sending(undefined, { confirm: () => Promise.reject(new Error("down")) });
    expect(await sendOutbox(ports, [openBatch("h1", "a", 1)])).toBe(1);
    expect(ports.lines.map((line) => line.message)).toEqual(["confirm failed; the messages will be sent twice"]);
  });

  test("confirms after it sent, so that a crash in between repeats rather than loses", async () => {
    const { ports, calls, confirmed } = sending();
    const seen: string[] = [];
    const crashing = {
      ...ports,
      crashPoint: async (name: string) => void seen.push(`${name} ${calls.length} ${confirmed.length}`),
    };
    await sendOutbox(crashing, [openBatch("h1", "a", 1)]);
    expect(seen).toEqual(["relay.sent 1 0", "relay.confirmed 1 1"]);
  });
});

describe("sending that takes long", () => {
  const slow = (ms: number): Queue["send"] => {
    return async () => {
      await slowly.ports?.clock.sleep(ms);
      return { failed: [] };
    };
  };
  const slowly: { ports: World | null } = { ports: null };
  const begin = (sent: Sent): Sent => {
    slowly.ports = sent.ports;
    return sent;
  };

  test.each([
    [deliveryLimits.outboxKeptMs - 1, 0],
    [deliveryLimits.outboxKeptMs + 1, 1],
    [20 * deliveryLimits.outboxKeptMs + 1, 20],
  ])("of one call of %d ms keeps its batch %d times", async (ms, times) => {
    const { ports, kept, confirmed } = begin(sending(slow(ms)));
    const given = openBatch("h1", "a", 2);
    const accepted = sendOutbox(ports, [given]);
    await ports.clock.advance(ms);
    expect(await accepted).toBe(2);
    const unsent = given.messages.map(({ jobId }) => jobId);
    expect(kept).toEqual(Array.from({ length: times }, () => [{ id: "h1", resent: 0, unsent }]));
    expect([confirmed, ports.clock.pending()]).toEqual([[{ id: "h1", failed: [] }], 0]);
  });

  test("says on the way what the queue accepted, and confirms at the end what that left", async () => {
    const { ports, kept, confirmed } = begin(sending(slow(600)));
    const given = [openBatch("h1", "a", 40), openBatch("h2", "a", 40)];
    const accepted = sendOutbox(ports, given);
    await ports.clock.advance(1_200);
    expect(await accepted).toBe(80);
    expect(kept.map((batches) => batches.map(({ id, unsent }) => [id, unsent.length]))).toEqual([
      [
        ["h1", 0],
        ["h2", 40],
      ],
    ]);
    expect(confirmed).toEqual([{ id: "h2", failed: [] }]);
  });

  test("ends when its batches cannot be kept, so that it sends none that another may have taken", async () => {
    const { ports, calls, confirmed } = begin(
      sending(slow(1_000), { keep: () => Promise.reject(new Error("no database")) }),
    );
    const accepted = sendOutbox(ports, [openBatch("h1", "a", 500)]);
    await ports.clock.advance(60_000);
    expect([calls.length, await accepted]).toEqual([12, 120]);
    expect(confirmed[0]?.failed).toHaveLength(380);
    expect(ports.clock.pending()).toBe(0);
  });
});
