import { describe, expect, test } from "vitest";
import type { JobId } from "../../src/core/job/job.ts";
import { StoreAway, UnknownOutcome } from "../../src/core/ports/ports.ts";
import { writeWhileAway } from "../../src/core/work/write-while-away.ts";
import { sum, world } from "./world.ts";

const away = new StoreAway("stopped");

/** Writes for jobs that end at these times; `failing` is what each try throws, the last of them for ever. */
async function writing(untilMs: readonly number[], failing: (call: number) => Error | null, passMs = 100_000) {
  const ports = world();
  const tries: number[] = [];
  const group = untilMs.map((each, n) => ({ job: { jobId: String(n + 1) as JobId }, untilMs: each }));
  const ended = writeWhileAway(ports, group, () => {
    tries.push(ports.clock.elapsedMs());
    const error = failing(tries.length);
    return error === null ? Promise.resolve() : Promise.reject(error);
  }).then(
    () => "written",
    (error: unknown) => error,
  );
  await ports.clock.advance(passMs);
  return { end: await ended, tries, lines: ports.lines, unwritten: sum(ports.measured, "job.settle.unwritten") };
}

describe("a write while the store is away", () => {
  test("is repeated after 200, 400, 800 and then each 1,000 ms, with one warning, until it succeeds", async () => {
    const { end, tries, lines, unwritten } = await writing([60_000, 50_000], (call) => (call < 8 ? away : null));
    expect(end).toBe("written");
    expect(tries).toEqual([0, 200, 600, 1_400, 2_400, 3_400, 4_400, 5_400]);
    expect(lines).toMatchObject([{ level: "warn", fields: { jobs: 2, error: away } }]);
    expect(unwritten).toBe(0);
  });

  test("goes on for hours, a second apart", async () => {
    const { end, tries } = await writing([9_000_000], (call) => (call < 1_500 ? away : null), 2_000_000);
    expect([end, tries.length, tries.at(-1)]).toEqual(["written", 1_500, 1_400 + 1_496 * 1_000]);
  });

  test("also for an outcome that is unknown, with the warning at its first failure", async () => {
    const { end, tries, lines } = await writing([60_000], (call) => (call < 2 ? new UnknownOutcome("commit") : null));
    expect([end, tries, lines.length]).toEqual(["written", [0, 200], 1]);
  });

  test.each([
    ["would end exactly then", 600, [0, 200]],
    ["would end a moment before", 601, [0, 200, 600]],
    ["has no time at all", 0, [0]],
    ["has time for the first only", 200, [0]],
    ["has a millisecond more", 201, [0, 200]],
  ])("is given up with the first job's invocation: a pause that %s", async (_, untilMs, tries) => {
    const given = await writing([90_000, untilMs], () => away);
    expect(given.end).toBe(away);
    expect(given.tries).toEqual(tries);
    expect(given.unwritten).toBe(2);
    expect(given.lines.at(-1)).toMatchObject({ level: "error", fields: { jobs: ["1", "2"], error: away } });
  });
});

test("a write that fails for another reason is thrown at once, and is no loss yet", async () => {
  const broken = new Error("22021");
  expect(await writing([60_000], () => broken)).toEqual({ end: broken, tries: [0], lines: [], unwritten: 0 });
});

test("at the end of the invocation another reason leaves the outcome unwritten too", async () => {
  const broken = new Error("22021");
  expect(await writing([100], () => broken)).toMatchObject({ end: broken, tries: [0], unwritten: 1 });
});
