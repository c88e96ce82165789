import { expect, test } from "vitest";
import type { JobId } from "../../../src/machine/job.ts";
import {
  claimOne,
  dispatchWindowMs,
  failure,
  insertOne,
  messageFor,
  minute,
  moves,
  only,
  outboxIds,
  running,
  settleOne,
  show,
  contract,
  type At,
} from "./fixture.ts";

const pause = { by: "ada", reason: null, until: null };

export const lanesContract = contract({ lanes, "jobs moved by hand": byHand });

function lanes({ store, advance }: At): void {
  test("a pause lasts until its end, or until the resume; other lanes go on", async () => {
    await store.pauseLane("mail", { ...pause, until: (await store.now()) + minute });
    expect([await store.closed("mail"), await store.closed("other")]).toEqual([["mail"], []]);
    await advance(2 * minute);
    expect(await store.closed("mail")).toEqual([]);
    await store.pauseLane("mail", pause);
    expect(await store.closed("mail")).toEqual(["mail"]);
    await store.pauseLane("mail", null);
    expect(await store.closed("mail")).toEqual([]);
  });

  test("what arrives is held under a new generation, and waits until it is released, the earliest due first", async () => {
    const [first, second] = [await insertOne(store, { lane: "mail" }), await insertOne(store, { lane: "mail" })];
    const messages = [await messageFor(store, second), await messageFor(store, first)];
    await store.pauseLane("mail", pause);
    expect(await store.holdClosed([...messages, { jobId: first, generation: 0, trace: "" }])).toEqual([first, second]);
    expect((await show(store, first)).job).toMatchObject({ state: "PENDING", hold: "paused", generation: 2 });
    expect(await moves(store, first)).toContain("QUEUED>PENDING");
    expect(await store.holdClosed(messages)).toEqual([]);
    expect((await store.claim(messages, { worker: "worker-1", alone: false })).claimed).toEqual([]);
    expect(await store.relay({ limit: 10 })).toEqual([]);
    expect(await store.unholdPaused("other", 10)).toBe(0);
    expect(await store.unholdPaused("mail", 1)).toBe(1);
    expect(outboxIds(await store.relay({ limit: 10 }))).toEqual([first]);
    expect(await claimOne(store, first)).toMatchObject({ state: "RUNNING", attempt: 1 });
  });

  test("what was held just after a resume is released by a look at all lanes, and nothing of a paused one", async () => {
    const held = await insertOne(store, { lane: "mail" });
    const kept = await insertOne(store, { lane: "night" });
    for (const lane of ["mail", "night"]) await store.pauseLane(lane, pause);
    await store.holdClosed([await messageFor(store, held), await messageFor(store, kept)]);
    await store.pauseLane("mail", null);
    expect(await store.unholdOpen(10)).toBe(1);
    expect(await store.unholdOpen(10)).toBe(0);
    expect(outboxIds(await store.relay({ limit: 10 }))).toEqual([held]);
    expect((await show(store, kept)).job).toMatchObject({ state: "PENDING", hold: "paused" });
  });

  test("a blackout closes its lane alone, up to its end or until a person resumes the lane", async () => {
    const now = await store.now();
    const window = (from: number, until: number) => ({ from: now + from * minute, until: now + until * minute });
    const blackouts = [{ lane: "mail", windows: [window(0, 5), window(10, 20)] }];
    expect(await store.installBlackouts([...blackouts, { lane: "other", windows: [] }])).toBe(1);
    expect(await store.installBlackouts(blackouts)).toBe(0);
    expect([await store.closed("mail"), await store.closed("other")]).toEqual([["mail"], []]);
    const held = await insertOne(store, { lane: "mail" });
    await store.holdClosed([await messageFor(store, held)]);
    expect((await show(store, held)).events.at(-1)).toMatchObject({ to: "PENDING", reason: "blackout" });
    expect(await store.unholdOpen(10)).toBe(0);
    await advance(5 * minute);
    expect(await store.closed("mail")).toEqual([]);
    expect(await store.unholdOpen(10)).toBe(1);
    await advance(6 * minute);
    expect(await store.closed("mail")).toEqual(["mail"]);
    await store.pauseLane("mail", null);
    expect(await store.closed("mail")).toEqual([]);
    // A pause does not bring back what a person has ended.
    await store.pauseLane("mail", { ...pause, until: (await store.now()) + minute });
    await advance(minute);
    expect(await store.closed("mail")).toEqual([]);
    expect(await store.installBlackouts([{ lane: "mail", windows: [window(10, 30)] }])).toBe(1);
    await advance(8 * minute);
    expect(await store.closed("mail")).toEqual(["mail"]);
    expect(await store.installBlackouts([{ lane: "mail", windows: [] }])).toBe(1);
    expect(await store.closed("mail")).toEqual([]);
  });

  test("a kind that is closed is held in each lane, and nothing of another; the lane that is closed too is named", async () => {
    const now = await store.now();
    const own = [
      await insertOne(store, { kind: "bill", lane: "mail" }),
      await insertOne(store, { kind: "bill", lane: "other" }),
    ] as const;
    const free = await insertOne(store, { kind: "post", lane: "mail" });
    const messages = await Promise.all([...own, free].map((id) => messageFor(store, id)));
    await store.installBlackouts([{ lane: "kind:bill", windows: [{ from: now, until: now + 5 * minute }] }]);
    await store.pauseLane("mail", { ...pause, until: now + minute });
    expect([await store.closed("mail"), await store.closed("other")]).toEqual([["kind:bill", "mail"], ["kind:bill"]]);
    expect(await store.holdClosed(messages)).toEqual([...own, free]);
    const why = async (id: JobId) => (await show(store, id)).events.at(-1)?.reason;
    expect(await Promise.all([...own, free].map(why))).toEqual(["lane paused", "blackout", "lane paused"]);
    await advance(minute);
    expect(await store.unholdOpen(10)).toBe(2);
    expect(await store.holdClosed(await Promise.all([...own, free].map((id) => messageFor(store, id))))).toEqual([]);
    expect(outboxIds(await store.relay({ limit: 10 }))).toEqual([own[0], free]);
    const [first] = own;
    expect(await store.holdClosed([await messageFor(store, first)])).toEqual([first]);
    await store.pauseLane("kind:bill", null);
    expect(await store.unholdOpen(10)).toBe(2);
  });
}

function byHand({ store }: At): void {
  test("run now dispatches what waits, sooner too what has a message for later, and nothing else", async () => {
    const waits = await insertOne(store, { delayMs: dispatchWindowMs + minute });
    const soon = await insertOne(store, { delayMs: dispatchWindowMs / 2 });
    const due = await insertOne(store);
    const held = await insertOne(store, { lane: "mail" });
    await store.pauseLane("mail", pause);
    await store.holdClosed([await messageFor(store, held)]);
    const runs = await running(store);
    const moved = await store.runNow([waits, soon, due, held, runs.jobId], { caller: "ada" });
    expect(moved.ids).toEqual([waits, soon]);
    expect(outboxIds(moved.aftermath.outbox)).toEqual([waits, soon]);
    expect(await moves(store, waits)).toEqual([">PENDING", "PENDING>QUEUED"]);
    expect((await show(store, soon)).job).toMatchObject({ state: "QUEUED", generation: 2 });
    for (const id of [waits, soon]) expect(await claimOne(store, id)).toMatchObject({ state: "RUNNING" });
  });

  test("a paced retry spreads jobs from its first due time on, and leaves out what has not failed", async () => {
    const failed = await running(store);
    await settleOne(store, failed, { ...failure, to: "FAILED" });
    const canceled = await insertOne(store);
    await store.cancel([canceled]);
    const queued = await insertOne(store);
    const dueAt = (await store.now()) - minute;
    const paceMs = dispatchWindowMs + minute;
    const { ids, aftermath } = await store.retry([canceled, failed.jobId, queued], {
      caller: "ada",
      dueAt,
      paceMs,
    });
    expect(ids).toEqual([failed.jobId, canceled].toSorted((a, b) => Number(a) - Number(b)));
    expect(outboxIds(aftermath.outbox)).toEqual([failed.jobId]);
    expect((await show(store, failed.jobId)).job).toMatchObject({ state: "QUEUED", failures: 0, attempt: 1 });
    const { job, events } = await show(store, canceled);
    expect(job).toMatchObject({ state: "PENDING", generation: 2, finishedAt: null });
    expect(job.dueAt - (await store.now())).toBeGreaterThan(dispatchWindowMs);
    expect(only(events.slice(-1))).toMatchObject({ from: "CANCELED", to: "PENDING", caller: "ada", reason: "retry" });
  });
}
