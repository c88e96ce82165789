import { describe, expect, test } from "vitest";
import { type EventSink, publishing, publishPage } from "../../src/core/admin/publish.ts";
import { upkeep } from "../../src/core/admin/upkeep.ts";
import type { JobId } from "../../src/core/job/job.ts";
import type { StreamCursor, StreamEvent } from "../../src/core/ports/event-stream.ts";
import type { Operations } from "../../src/core/ports/operations.ts";
import { operationsLimits } from "../../src/core/ports/operations-limits.ts";
import { publishLimits } from "../../src/core/ports/publish-limits.ts";
import { passLimits } from "../../src/core/scheduler/pass-limits.ts";
import { registryFor, world } from "./world.ts";

const event = (n: number): StreamEvent => ({
  id: `e${n}`,
  at: Date.UTC(2031, 0, 1) + n,
  jobId: String(n) as JobId,
  runId: null,
  kind: "k",
  key: null,
  lane: "a",
  from: null,
  to: "QUEUED",
  attempt: 0,
  generation: 1,
  worker: null,
  reason: null,
});

interface Given {
  readonly events?: number;
  readonly isGap?: boolean;
  readonly isKnown?: boolean;
  readonly isTaken?: boolean;
  readonly isMarked?: boolean;
  readonly send?: EventSink["send"];
}

/** A publisher whose pages have so many events each time; `calls` is what it asked for, in order. */
function publisher({ events = 2, isGap = false, isKnown = true, isTaken = true, isMarked = true, send }: Given = {}) {
  const calls: string[] = [];
  const cursor = "c" as StreamCursor;
  const all = Array.from({ length: events }, (_, n) => event(n));
  const note = <T>(answer: T, call: string): Promise<T> => (calls.push(call), Promise.resolve(answer));
  const operations = {
    reader: (name: string) => note(isKnown ? { cursor, version: "1" } : null, `reader ${name}`),
    stream: (_: StreamCursor, limit: number) =>
      note({ events: all, cursor: "d", isMore: false, isGap }, `stream ${limit}`),
    takeReader: (_: string, { version }: { version: string }) => note(isTaken ? "2" : null, `take ${version}`),
    failReader: (_: string, { version }: { version: string }) => note(undefined, `fail ${version}`),
    markPublished: (_: string, place: { version: string; cursor: string; events: readonly StreamEvent[] }) =>
      note(isMarked, `mark ${place.version} ${place.cursor} ${place.events.length}`),
  } as unknown as Operations;
  const ports = world();
  const sink: EventSink = {
    name: "sink",
    send: (sent, signal) => (
      calls.push(`send ${sent.length}`),
      send === undefined ? Promise.resolve() : send(sent, signal)
    ),
  };
  return { calls, operations, ports, sink, publish: () => publishPage(ports, operations, { sink, owner: "o" }) };
}

const read = ["reader publisher", `stream ${publishLimits.publishRowsMax}`];

describe("a page of events", () => {
  test.each([
    ["that is sent and marked", {}, [...read, "take 1", "send 2", "mark 2 d 2"], 2, [["events.published", 2]], []],
    ["of one", { events: 1 }, [...read, "take 1", "send 1", "mark 2 d 1"], 1, [["events.published", 1]], []],
    ["of a reader that is not known", { isKnown: false }, read.slice(0, 1), 0, [], []],
    ["without events", { events: 0 }, read, 0, [], []],
    [
      "without events behind a gap, which is said and marked",
      { events: 0, isGap: true },
      [...read, "take 1", "mark 2 d 0"],
      0,
      [["events.published", 0]],
      ["error"],
    ],
    [
      "behind a gap",
      { isGap: true },
      [...read, "take 1", "send 2", "mark 2 d 2"],
      2,
      [["events.published", 2]],
      ["error"],
    ],
    ["that another process took", { isTaken: false }, [...read, "take 1"], 0, [], []],
    ["that another process marked", { isMarked: false }, [...read, "take 1", "send 2", "mark 2 d 2"], 0, [], []],
  ] as const)("%s", async (_name, given, calls, count, metrics, levels) => {
    const at = publisher(given);
    expect(await at.publish()).toBe(count);
    expect(at.calls).toEqual(calls);
    expect(at.ports.measured.map(({ name, value }) => [name, value])).toEqual(metrics);
    expect(at.ports.lines.map(({ level }) => level)).toEqual(levels);
    expect(at.ports.clock.pending()).toBe(0);
  });

  test("that the sink refuses, or does not accept in time, is left to a later call", async () => {
    const failed = [...read, "take 1", "send 2", "fail 2"];
    const refusing = publisher({ send: () => Promise.reject(new Error("500")) });
    expect(await refusing.publish()).toBe(0);
    expect(refusing.calls).toEqual(failed);
    const silent = publisher({
      send: (_, signal) =>
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    });
    const waiting = silent.publish();
    await silent.ports.clock.advance(publishLimits.publishMs - 1);
    expect(silent.calls).toEqual(failed.slice(0, -1));
    await silent.ports.clock.advance(1);
    expect(await waiting).toBe(0);
    expect(silent.calls).toEqual(failed);
    for (const { ports } of [refusing, silent])
      expect(ports.measured.map(({ name, value }) => [name, value])).toEqual([["events.publish.failed", 1]]);
  });
});

describe("publishing", () => {
  /** How many pages it reads in the first second and at its end, while this many pages have one event. */
  async function rounds(full: number, fault?: Error): Promise<readonly [number, number, number]> {
    const at = publisher({ events: 1 });
    let pages = 0;
    const operations = {
      ...at.operations,
      reader: async () => {
        pages += 1;
        if (fault !== undefined) throw fault;
        return pages <= full ? { cursor: "c", version: "1" } : null;
      },
    } as unknown as Operations;
    const end = new AbortController();
    const running = publishing(at.ports, operations, { sink: at.sink, owner: "o", signal: end.signal });
    await at.ports.clock.advance(passLimits.passIntervalMs - 1);
    const first = pages;
    await at.ports.clock.advance(1);
    end.abort();
    await running;
    const failures = at.ports.measured.filter(({ name }) => name === "events.publish.failed").length;
    return [first, pages, failures];
  }

  test("goes on at once while there are events, and else after a second", async () => {
    expect(await rounds(0)).toEqual([1, 2, 0]);
    expect(await rounds(3)).toEqual([4, 5, 0]);
  });

  test("goes on after a failure, which is counted", async () => {
    expect(await rounds(3, new Error("away"))).toEqual([1, 2, 2]);
  });

  test("does nothing once it was stopped", async () => {
    const at = publisher();
    await publishing(at.ports, at.operations, { sink: at.sink, owner: "o", signal: AbortSignal.abort() });
    expect(at.calls).toEqual([]);
  });
});

describe("upkeep", () => {
  /** In how many rounds of the first second it added so many counts, released so many jobs, and found a bulk action. */
  async function rounds({
    added = 0,
    unheld = 0,
    bulks = 0,
    fault,
  }: {
    added?: number;
    unheld?: number;
    bulks?: number;
    fault?: Error;
  }) {
    const ports = world();
    let count = 0;
    const operations = {
      rollUp: async () => {
        count += 1;
        if (fault !== undefined) throw fault;
        return count <= 3 ? added : 0;
      },
      unholdOpen: async () => unheld,
      takeBulk: async () => (count <= bulks ? { action: "retry", search: {}, paceMs: 0, next: "1" } : null),
      bulkPage: async () => ({ ids: [], next: null }),
      advanceBulk: async () => true,
    } as unknown as Operations;
    const end = new AbortController();
    const running = upkeep(ports, registryFor(), operations, { owner: "o", stage: "test", signal: end.signal });
    await ports.clock.advance(passLimits.passIntervalMs - 1);
    const first = count;
    await ports.clock.advance(1);
    end.abort();
    await running;
    const lines = ports.lines.map(({ level, fields }) => fields["jobs"] ?? level);
    return { rounds: [first, count], lines, failures: ports.measured.length };
  }

  test.each([
    [{}, [1, 2]],
    [{ added: operationsLimits.rollUpRowsMax - 1 }, [1, 2]],
    [{ added: operationsLimits.rollUpRowsMax }, [4, 5]],
    [{ bulks: 2 }, [3, 4]],
    [{ bulks: 1, added: 5 }, [2, 3]],
  ])("with %j goes on at once while there is more, and else after a second", async (given, wanted) => {
    expect(await rounds(given)).toEqual({ rounds: wanted, lines: [], failures: 0 });
  });

  test.each([1, 7])("says that it released %d jobs that were still on hold", async (unheld) => {
    expect((await rounds({ unheld })).lines).toEqual([unheld, unheld]);
  });

  test("goes on after a failure, which is counted", async () => {
    const failing = await rounds({ fault: new Error("away") });
    expect(failing).toEqual({ rounds: [1, 2], lines: ["warn", "warn"], failures: 2 });
  });
});
