import { describe, expect, onTestFinished, test } from "vitest";
import { eventSource } from "../../src/api/event-source.ts";
import { createLiveFeed } from "../../src/api/live-feed.ts";
import type { ReloadStatus } from "../../src/api/saves.ts";
import type { ReadEvents, StreamCursor, StreamPage } from "../../src/insight/event-stream.ts";
import { streamLimits } from "../../src/insight/stream-limits.ts";
import { type LogLine, recordingLog } from "../../src/testing/recording.ts";
import { virtualTime } from "../support/virtual-clock.ts";

const place = (n: number) => `place-${n}` as StreamCursor;
const event = (n: number): StreamPage["events"][number] => ({
  id: `event-${n}`,
  at: "1970-01-01T00:00:00.000Z",
  job: "1",
  run: null,
  kind: "ping",
  key: null,
  lane: "default",
  from: null,
  to: "QUEUED",
  attempt: 0,
  generation: 1,
  worker: null,
  reason: null,
});

/** A feed on virtual time over a stream that has one event at each look; looks whose number is in `broken` fail. */
function feedOf({ broken = [] }: { broken?: readonly number[] } = {}) {
  const time = virtualTime();
  const lines: LogLine[] = [];
  const from: (StreamCursor | null)[] = [];
  const readEvents: ReadEvents = async (cursor) => {
    const look = from.push(cursor);
    if (broken.includes(look)) throw new Error("the database is away");
    return { events: cursor === null ? [] : [event(look)], cursor: place(look), isMore: false, isGap: false };
  };
  const feed = createLiveFeed({ readEvents, clock: time.clock, log: recordingLog(lines) });
  return {
    time,
    feed,
    readEvents,
    from,
    lines,
    looks: (n: number) => time.runUntil(time.nowMs + n * streamLimits.streamLookMs),
  };
}

/** One client of a stream: what it was sent. */
function clientOf(
  { time, feed, readEvents }: ReturnType<typeof feedOf>,
  options: { kind?: string; saves?: ReloadStatus; cursor?: StreamCursor } = {},
) {
  const { kind = "ping", saves, cursor = null } = options;
  const response = eventSource({
    readEvents,
    feed,
    saves,
    clock: time.clock,
    filter: { kind },
    cursor,
    snapshot: async () => "{}",
  });
  const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
  const client = { text: "", isOver: false, leave: () => reader.cancel() };
  const pump = async (): Promise<void> => {
    for (let part = await reader.read(); !part.done; part = await reader.read()) client.text += part.value;
    client.isOver = true;
  };
  void pump();
  onTestFinished(() => client.leave());
  return client;
}

describe("the reader of the events", () => {
  test("goes on from where it was after looks that failed: nothing of an outage is missed", async () => {
    const { time, feed, from, lines, looks } = feedOf({ broken: [3, 4] });
    const seen: string[] = [];
    feed.listen(({ events }) => seen.push(...events.map(({ event: { id } }) => id)));
    await looks(2);
    await time.runUntil(time.nowMs + 2 * streamLimits.streamRetryMs);
    expect(from.slice(0, 5)).toEqual([null, place(1), place(2), place(2), place(2)]);
    expect(seen.slice(0, 2)).toEqual(["event-2", "event-5"]);
    expect(lines.map(({ level }) => level)).toEqual(["warn", "warn"]);
  });

  test("begins at the present for a new listener: what happened while none listened is no news", async () => {
    const { feed, from, looks } = feedOf();
    const first = feed.listen(() => {});
    await looks(2);
    first.end();
    await looks(4);
    const before = from.length;
    const second = feed.listen(() => {});
    await looks(1);
    expect(from.slice(before)[0]).toBeNull();
    expect(await second.ready).toBe(place(before + 1));
  });
});

describe("the stream of one client", () => {
  test("moves it on with each sign of life, also past events that its filter left out", async () => {
    const made = feedOf();
    const client = clientOf(made, { kind: "other", cursor: place(0) });
    await made.time.runUntil(streamLimits.streamCommentMs + 1);
    const [, id = ""] = /: still here\nid: place-(\d+)\n\n$/.exec(client.text) ?? [];
    // One look each quarter of a second, and one at the beginning.
    expect(Number(id)).toBeGreaterThan(streamLimits.streamCommentMs / streamLimits.streamLookMs - 2);
    expect(client.text).not.toContain("event: job");
  });

  test.each(["its time is over", "its client leaves"])("gives back all that it took when %s", async (how) => {
    const made = feedOf();
    const listening = new Set<() => void>();
    const saves: ReloadStatus = {
      running: () => null,
      onChange: (listen) => (listening.add(listen), () => void listening.delete(listen)),
    };
    const client = clientOf(made, { saves });
    await made.looks(2);
    expect(listening.size).toBe(1);
    if (how === "its client leaves") await client.leave();
    await made.time.runUntil(streamLimits.streamCloseMs + streamLimits.streamLookMs);
    expect([listening.size, client.isOver]).toEqual([0, true]);
    const before = made.from.length;
    await made.looks(40);
    expect(made.from.length).toBe(before);
  });
});
