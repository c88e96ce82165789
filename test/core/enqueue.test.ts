import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineJob, definitionOf } from "../../src/define/define-job.ts";
import { createClient } from "../../src/run/enqueue.ts";
import { bindClient, boundClient } from "../../src/machine/client.ts";
import { contractLimits } from "../../src/machine/contract-limits.ts";
import { jobOf, lane, shop, world, down, withStore } from "./world.ts";

const mail = defineJob({ id: "mail", payload: z.object({ n: z.number().default(1) }), run: () => {} });
const capped = defineJob({ id: "capped", concurrency: 2, lock: {}, run: () => {} });

const byCustomer = defineJob({
  id: "by-customer",
  payload: z.object({ customer: z.string().default("none") }),
  concurrency: {
    max: 50,
    perKey: 5,
    key({ customer }) {
      if (customer === "throws") throw new Error("no customer");
      const answers: Record<string, unknown> = { number: 7, nul: "a\0b", half: "\ud800" };
      return (answers[customer] ?? customer) as string;
    },
  },
  run() {},
});

describe("enqueue", () => {
  test("writes the job and hands its message to the queue before it answers", async () => {
    const { enqueue, world: ports } = await shop([mail]);
    const id = await enqueue(mail, { n: 1 });
    expect(await jobOf(ports, id)).toMatchObject({ state: "QUEUED", generation: 1 });
    expect(ports.queue.size(lane)).toBe(1);
    expect(ports.store.tables.outbox.size).toBe(0);
  });

  test("answers the existing job for the same key and payload, and the payload is the caller's, before defaults", async () => {
    const { client, world: ports } = await shop([mail]);
    const definition = definitionOf(mail);
    const first = await client.enqueue(definition, [{ payload: {}, key: "k" }]);
    const again = await client.enqueue(definition, [{ payload: {}, key: "k" }]);
    expect([first[0]?.created, again[0]?.created]).toEqual([true, false]);
    expect(again[0]?.id).toBe(first[0]?.id);
    expect(ports.queue.size(lane)).toBe(1);
    await expect(client.enqueue(definition, [{ payload: { n: 2 }, key: "k" }])).rejects.toThrow(
      /key "k" of "mail" already belongs to job 1 with another payload/,
    );
  });

  test("makes the key of the payload with its defaults", async () => {
    const payload = z.object({ n: z.number().default(7), to: z.string().toLowerCase() });
    const keyed = defineJob({ id: "keyed", payload, key: ({ n, to }) => `${to}:${n}`, run() {} });
    const { client, world: ports } = await shop([keyed]);
    await client.enqueue(definitionOf(keyed), [{ payload: { to: "Ada" } }]);
    expect(await ports.store.jobs()).toMatchObject([{ key: "ada:7", payload: { to: "Ada" } }]);
  });

  test("makes the slots of its kind at the next call, when they could not be made at the first", async () => {
    let calls = 0;
    const ports = withStore((store) => ({
      installSlots: (groups) => (++calls === 1 ? down() : store.installSlots(groups)),
    }));
    const client = createClient(ports);
    const definition = definitionOf(capped);
    await expect(client.enqueue(definition, [{ payload: undefined }])).rejects.toThrow("down");
    await client.enqueue(definition, [{ payload: undefined }]);
    await client.enqueue(definition, [{ payload: undefined }]);
    expect(calls).toBe(2);
  });

  test("answers in the order of the input", async () => {
    const { client, world: ports } = await shop([mail]);
    const items = [3, 1, 2].map((n) => ({ payload: { n }, key: `k${n}` }));
    const answers = await client.enqueue(definitionOf(mail), items);
    const payloads = await Promise.all(answers.map(async ({ id }) => (await jobOf(ports, id)).payload));
    expect(payloads).toEqual([{ n: 3 }, { n: 1 }, { n: 2 }]);
  });

  test("writes nothing when one payload of many is invalid", async () => {
    const { client, world: ports } = await shop([mail]);
    const items = [{ payload: { n: 1 } }, { payload: { n: "two" } }];
    await expect(client.enqueue(definitionOf(mail), items)).rejects.toMatchObject({ issues: [{ path: "n" }] });
    expect(await ports.store.jobs()).toEqual([]);
  });

  test("writes a long list by pages of a bounded size, also behind a conflict", async () => {
    const pages: number[] = [];
    const ports = withStore((store) => ({
      insert: (jobs, options) => {
        pages.push(jobs.length);
        return store.insert(jobs, options);
      },
    }));
    const { client } = await shop([mail], ports);
    await client.enqueue(definitionOf(mail), [{ payload: { n: 0 }, key: "k0" }]);
    const items = Array.from({ length: contractLimits.insertRowsMax + 5 }, (_, n) => ({
      payload: { n: n + 1 },
      key: `k${n}`,
    }));
    await expect(client.enqueue(definitionOf(mail), items)).rejects.toThrow("another payload");
    expect(pages).toEqual([1, contractLimits.insertRowsMax, 5]);
    expect(await ports.store.jobs({ states: ["QUEUED"] })).toHaveLength(contractLimits.insertRowsMax + 5);
  });

  test("creates the slot groups of a kind first, so that its jobs cannot wait for a group that does not exist", async () => {
    const ports = world();
    const { client } = await shop([], ports);
    await client.enqueue(definitionOf(capped), [{ payload: undefined }]);
    expect([...ports.store.tables.groups.values()].map((group) => group.key).toSorted()).toEqual([
      "cap:capped",
      "lock:capped",
    ]);
  });

  test("computes the key of a cap once, from the payload with its defaults, and stores it", async () => {
    const ports = world();
    const { client } = await shop([], ports);
    await client.enqueue(definitionOf(byCustomer), [{ payload: { customer: "a" } }, { payload: {} }]);
    const rows = await ports.store.jobs();
    expect(rows.map(({ slotKeys }) => slotKeys.join(" ")).toSorted()).toEqual([
      "cap:by-customer#a cap:by-customer",
      "cap:by-customer#none cap:by-customer",
    ]);
  });

  test.each([
    ["", 'answered "" (0 characters) for it; a key is a text of 1 to 200 characters'],
    ["c".repeat(201), "(201 characters) for it"],
    ["nul", "without NUL"],
    ["half", "half a surrogate pair"],
    ["throws", "threw for it: no customer"],
    ["number", "answered 7 for it"],
  ])("refuses a payload without a key for its cap, %j, and writes none of its page", async (customer, message) => {
    const ports = world();
    const { client } = await shop([], ports);
    const items = [{ payload: { customer: "good" } }, { payload: { customer } }];
    const refused = client.enqueue(definitionOf(byCustomer), items);
    await expect(refused).rejects.toThrow('payload of "by-customer" is invalid: concurrency.key: ');
    await expect(refused).rejects.toThrow(message);
    expect(await ports.store.jobs()).toEqual([]);
  });

  test.each([
    [{ delayMs: -1 }, /delay of "mail" is -1 ms/],
    [{ delayMs: Number.NaN }, /delay of "mail" is NaN ms/],
    [{ delayMs: contractLimits.delayMsMax + 1 }, /must lie between 0 and/],
    [{ dueAt: new Date(Number.NaN) }, /dueAt of "mail" is not a valid Date/],
    [{ dueAt: new Date(-8.64e15) }, /dueAt of "mail" is -271821-04-20T00:00:00.000Z; it must lie between/],
    [{ dueAt: new Date(8.64e15) }, /it must lie between the years 1970 and 9999/],
  ])("refuses a time that is none: %j", async (when, message) => {
    const { client } = await shop([mail]);
    await expect(client.enqueue(definitionOf(mail), [{ payload: {}, ...when }])).rejects.toThrow(message);
  });

  test("in the caller's transaction exists exactly if that commits, and no message leaves before", async () => {
    const { client, world: ports } = await shop([mail]);
    const enqueueThen = (fail: boolean) =>
      ports.store.transaction(async (tx) => {
        await client.enqueue(definitionOf(mail), [{ payload: {} }], { tx });
        expect(ports.queue.size(lane)).toBe(0);
        if (fail) throw new Error("rolled back");
      });
    await expect(enqueueThen(true)).rejects.toThrow("rolled back");
    expect(await ports.store.jobs()).toEqual([]);
    await enqueueThen(false);
    expect(await ports.store.jobs()).toHaveLength(1);
    expect(ports.store.tables.outbox.size).toBe(1);
  });

  test("in the caller's transaction is dispatched at once when the caller says that it committed", async () => {
    const { client, worker, receive, world: ports } = await shop([mail]);
    const enqueueIn = (fails: boolean) =>
      client.enqueue(definitionOf(mail), [{ payload: {} }, { payload: {} }], {
        tx: { query: () => Promise.resolve({ rows: [], rowCount: 0 }) },
        ...(fails ? { trace: "rolled back" } : {}),
      });
    const [first, second] = await enqueueIn(false);
    expect(ports.queue.size(lane)).toBe(0);
    await first?.afterCommit?.();
    expect([ports.queue.size(lane), ports.store.tables.outbox.size]).toEqual([2, 0]);
    await second?.afterCommit?.();
    expect(ports.queue.size(lane)).toBe(2);
    await worker.handle(receive(), { remainingMs: () => 600_000 });
    expect(await ports.store.jobs({ states: ["SUCCESS"] })).toHaveLength(2);
  });

  test("that was rolled back and is said to be committed all the same sends a message that claims nothing", async () => {
    const { client, worker, receive, world: ports } = await shop([mail]);
    const commits: (() => Promise<void>)[] = [];
    await ports.store
      .transaction(async (tx) => {
        const [enqueued] = await client.enqueue(definitionOf(mail), [{ payload: {} }], { tx });
        commits.push(enqueued?.afterCommit ?? (() => Promise.reject(new Error("nothing to call"))));
        throw new Error("rolled back");
      })
      .catch(() => {});
    for (const afterCommit of commits) await afterCommit();
    expect(await worker.handle(receive(), { remainingMs: () => 600_000 })).toEqual({ failed: [] });
    expect(await ports.store.jobs()).toEqual([]);
  });

  test("job.enqueue() goes through the client of this process, and says so when there is none", async () => {
    const { client, world: ports } = await shop([mail]);
    bindClient(client);
    try {
      const { id, created } = await mail.enqueue({ n: 4 }, { delay: "10m" });
      expect(created).toBe(true);
      expect(await jobOf(ports, id)).toMatchObject({ payload: { n: 4 }, state: "PENDING" });
      const many = [{ payload: { n: 5 } }, { payload: { n: 6 }, options: { key: "k", delay: "1h" } }] as const;
      const [now, later] = await mail.enqueueAll(many);
      expect(await jobOf(ports, now?.id ?? id)).toMatchObject({ payload: { n: 5 }, state: "QUEUED" });
      const { dueAt, key } = await jobOf(ports, later?.id ?? id);
      expect([key, dueAt - (await ports.store.now())]).toEqual(["k", 3_600_000]);
    } finally {
      bindClient(null);
    }
    expect(boundClient).toThrow("not connected");
    await expect(mail.enqueue({ n: 4 })).rejects.toThrow("not connected");
  });
});
