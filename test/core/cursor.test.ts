import { expect, test } from "vitest";
import {
  type EventFilter,
  formatCursor,
  matchesFilter,
  parseCursor,
  type StreamEvent,
} from "../../src/core/ports/event-stream.ts";
import type { JobId, RunId } from "../../src/core/job/job.ts";
import { streamLimits } from "../../src/core/ports/stream-limits.ts";

const most = 2n ** 63n - 1n;

test.each([
  "0badcafe~5:9::9:0",
  "0badcafe~5:9:5,5,8:9:7",
  "0badcafe~5:9:7:10:7~5:12:6:12:9~3~0",
  `0badcafe~${most}:${most}::${most}:${most}`,
])("%s is a cursor, and is written as it was", (text) => {
  const place = parseCursor(text);
  expect(place).not.toBeNull();
  expect(place === null ? null : formatCursor(place)).toBe(text);
});

test.each([
  ["no epoch", "~5:9::9:0"],
  ["an epoch of nine digits", "0badcafe0~5:9::9:0"],
  ["an epoch that only begins like one", "x0badcafe~5:9::9:0"],
  ["no look", "0badcafe"],
  ["a snapshot that begins at 0", "0badcafe~0:9::9:0"],
  ["an end before its begin", "0badcafe~9:5::9:0"],
  ["a next below the end", "0badcafe~5:9::8:0"],
  ["open ones out of order", "0badcafe~5:9:8,7:9:0"],
  ["an open one before the begin", "0badcafe~5:9:4:9:0"],
  ["an open one at the end", "0badcafe~5:9:9:9:0"],
  [
    "more open ones than are kept",
    `0badcafe~5:9:${Array.from({ length: streamLimits.streamOpenMax + 1 }, () => 5).join()}:9:0`,
  ],
  ["an end too large", `0badcafe~5:${most + 1n}::${most + 1n}:0`],
  ["a next too large", `0badcafe~5:9::${most + 1n}:0`],
  ["a last too large", `0badcafe~5:9::9:${most + 1n}`],
  ["a number of twenty digits", "0badcafe~5:9::9:00000000000000000001"],
  ["text before a look", "0badcafe~x5:9::9:0"],
  ["text behind a look", "0badcafe~5:9::9:0x"],
  ["a page without its id", "0badcafe~5:9::9:0~5:9::9:0"],
  ["a page without its place", "0badcafe~5:9::9:0~5:9::9:0~3"],
  ["an id that is no number", "0badcafe~5:9::9:0~5:9::9:0~x~0"],
  ["a place that is no number", "0badcafe~5:9::9:0~5:9::9:0~3~x"],
  ["an id too large", `0badcafe~5:9::9:0~5:9::9:0~${most + 1n}~0`],
  ["a page whose look is none", "0badcafe~5:9::9:0~9:5::9:0~3~0"],
  ["a part too many", "0badcafe~5:9::9:0~5:9::9:0~3~0~0"],
])("%s makes no cursor: %s", (_what, text) => {
  expect(parseCursor(text)).toBeNull();
});

const event: StreamEvent = {
  id: "e",
  at: 0,
  jobId: "7" as JobId,
  runId: "3" as RunId,
  kind: "mail",
  key: null,
  lane: "slow",
  from: "QUEUED",
  to: "RUNNING",
  attempt: 1,
  generation: 1,
  worker: null,
  reason: null,
};

/** By setting: a value that the event has, and one that it has not. */
const settings: { readonly [K in keyof EventFilter]-?: readonly [EventFilter[K], EventFilter[K]] } = {
  kind: ["mail", "post"],
  kinds: [["post", "mail"], ["post"]],
  lane: ["slow", "fast"],
  jobId: ["7" as JobId, "8" as JobId],
  runId: ["3" as RunId, "4" as RunId],
  to: [["FAILED", "RUNNING"], ["QUEUED"]],
};

test("a filter takes an event that has each of its settings: every combination of left out, fitting and not", () => {
  const filters = Object.entries(settings).reduce<readonly { filter: EventFilter; fits: boolean }[]>(
    (all, [name, [yes, no]]) =>
      all.flatMap((each) => [
        each,
        { filter: { ...each.filter, [name]: yes }, fits: each.fits },
        { filter: { ...each.filter, [name]: no }, fits: false },
      ]),
    [{ filter: {}, fits: true }],
  );
  expect(filters).toHaveLength(3 ** 6);
  for (const { filter, fits } of filters) expect([filter, matchesFilter(event, filter)]).toEqual([filter, fits]);
});

test("an event whose job is gone has no kind, and fits where none is asked for", () => {
  const gone = { ...event, kind: null };
  expect(
    [{}, { kind: "mail" }, { kinds: ["mail"] }, { kinds: [] }].map((filter) => matchesFilter(gone, filter)),
  ).toEqual([true, false, false, false]);
});
