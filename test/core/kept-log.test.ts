import { expect, test } from "vitest";
import { failureDetailLimits } from "../../src/core/job/failure-detail.ts";
import { KeptLog } from "../../src/core/work/kept-log.ts";
import { recordingLog, type LogLine } from "../../src/testing/recording.ts";

/** A log of an attempt that began at `startedMs`. */
function attempt(startedMs = 1_000) {
  let nowMs = startedMs;
  let opened = 0;
  const written: LogLine[] = [];
  const kept = new KeptLog({ elapsedMs: () => nowMs }, startedMs);
  const log = kept.over(() => {
    opened += 1;
    return recordingLog(written, { job: "1" });
  });
  return { kept, log, written, at: (ms: number) => void (nowMs = ms), opened: () => opened };
}

test("an attempt that logs nothing has no lines and opens no log", () => {
  const { kept, opened } = attempt();
  expect([kept.lines(), opened()]).toEqual([[], 0]);
});

test("each line has its level, its text and its time since the attempt began", () => {
  const { kept, log, written, at, opened } = attempt();
  log.debug("begin");
  at(1_000.4);
  log.info("read", { rows: 3 });
  at(1_000.5);
  log.warn("slow", { big: 7n, error: new Error("busy"), none: undefined });
  at(2_500);
  log.child({ part: 2 }).error("broken");
  // A clock that was set back.
  at(900);
  log.info("before");
  expect(kept.lines()).toEqual([
    { atMs: 0, level: "debug", text: "begin" },
    { atMs: 0, level: "info", text: 'read {"rows":3}' },
    { atMs: 1, level: "warn", text: 'slow {"big":"7","error":"busy"}' },
    { atMs: 1_500, level: "error", text: "broken" },
    { atMs: 0, level: "info", text: "before" },
  ]);
  expect(written.map(({ level, message }) => [level, message])).toEqual([
    ["debug", "begin"],
    ["info", "read"],
    ["warn", "slow"],
    ["error", "broken"],
    ["info", "before"],
  ]);
  expect(written[3]?.fields).toEqual({ job: "1", part: 2 });
  expect(opened()).toBe(1);
});

test.each([-1, 0, 1, 20])("the newest lines are kept, as many as the limit: %s beyond it", (beyond) => {
  const { kept, log, written } = attempt();
  const count = failureDetailLimits.logLinesMax + beyond;
  for (let n = 1; n <= count; n += 1) log.info(`line ${n}`);
  const first = Math.max(0, beyond) + 1;
  const expected = Array.from({ length: count - first + 1 }, (_, n) => `line ${first + n}`);
  expect(kept.lines().map(({ text }) => text)).toEqual(expected);
  expect(written).toHaveLength(count);
});

test("fields that cannot be text cost no line", () => {
  const { kept, log } = attempt();
  const round: Record<string, unknown> = {};
  round["self"] = round;
  log.info("round", round);
  log.info({
    toString: () => {
      throw new Error("no text");
    },
  } as never);
  expect(kept.lines().map(({ text }) => text)).toEqual([
    "round (fields that JSON cannot say)",
    "a line that has no text",
  ]);
});
