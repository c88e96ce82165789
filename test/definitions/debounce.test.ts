import { expect, test } from "vitest";
import { z } from "zod";
import { checkApps } from "../../src/define/check.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { defineFanOut } from "../../src/define/define-fan-out.ts";
import { defineJob, definitionOf, type JobOptions } from "../../src/define/define-job.ts";
import { defineSchedule } from "../../src/define/define-schedule.ts";
import { InvalidPayload } from "../../src/define/errors.ts";
import { describe as line } from "../../src/define/problem.ts";
import { prepare } from "../../src/run/enqueue.ts";

const payload = z.object({ id: z.string(), edits: z.array(z.string()).default([]) });
type Options = JobOptions<typeof payload>;
const key = ({ id }: { id: string }) => id;
const jobWith = (debounce: unknown, over: Partial<Options> = {}) =>
  defineJob({ id: "reindex", payload, run: () => {}, debounce: debounce as never, ...over });
const problemsOf = (debounce: unknown, over?: Partial<Options>) =>
  definitionOf(jobWith(debounce, over)).problems.map(line);

test.each<[unknown, string]>([
  ["5s", 'debounce "5s" must be an object; write { key: (payload) => payload.id, for: "5s" }'],
  [{ for: "5s" }, "debounce.key (missing) must be a function of the payload; write (payload) => payload.id"],
  [{ key }, 'debounce.for (missing) is needed; write { for: "5s" }'],
  [{ key, for: "500ms" }, 'debounce.for "500ms" must be at least 1s; use a longer one'],
  [{ key, for: "16m" }, 'debounce.for "16m" must be at most 15m; use a shorter one'],
  [{ key, for: "5s", max: "4s" }, 'debounce.max "4s" must be at least 5s; use a longer one'],
  [{ key, for: "5s", max: "25h" }, 'debounce.max "25h" must be at most 1d; use a shorter one'],
  [
    { key, for: "5s", keep: "all" },
    'debounce.keep "all" must be "last", "first" or a function; write (kept, next) => payload',
  ],
  [{ key, for: "5s", wait: 1 }, "debounce.wait 1 is not known; use key, for, max, keep"],
])("a debounce may not be %j", (debounce, expected) => {
  expect(problemsOf(debounce)).toEqual([`job "reindex": ${expected}`]);
});

test("it is not for a job with a key, and a function cannot merge what is sealed", () => {
  const debounce = { key, for: "5s", keep: (kept: object) => kept };
  expect(problemsOf(debounce, { key, seal: "payroll" })).toEqual([
    'job "reindex": debounce "(object)" is not for a job with a key; leave one of them out',
    'job "reindex": debounce.keep "(function)" cannot read what is sealed; use "last" or "first"',
  ]);
});

test("no schedule, fan-out or follower makes its jobs", () => {
  const reindex = jobWith({ key, for: "5s" });
  const all = defineFanOut({
    id: "all",
    each: reindex,
    from: async () => [],
    key: () => "1",
    payload: () => ({ id: "1" }),
  } as never);
  const daily = defineSchedule({ id: "daily", every: "1h", run: reindex, payload: { id: "1" } } as never);
  expect(checkApps([defineApp({ name: "x", jobs: [all], schedules: [daily] })], "dev").map(line)).toEqual(
    ['schedule "daily": run', 'job "all": each or then'].map(
      (what) => `${what} "reindex" has debounce, and each job made here is one of its own; enqueue it in a handler`,
    ),
  );
});

const prepared = (debounce: unknown, item: object) =>
  prepare(definitionOf(jobWith(debounce)), { trace: "t", seals: undefined }, [item as never]);

test("its key is made from the payload, and max is ten times for", async () => {
  const [job] = await prepared({ key, for: "5s" }, { payload: { id: "a" } });
  expect(job).toMatchObject({ key: null, delayMs: 5_000, debounce: { key: "a", forMs: 5_000, maxMs: 50_000 } });
});

test.each<[object, string]>([
  [{ key: "k" }, 'key of "reindex" is k; its debounce decides that: leave it out'],
  [{ delayMs: 10 }, 'delay of "reindex" is 10; its debounce decides that: leave it out'],
])("a call may not have %j", async (over, expected) => {
  await expect(prepared({ key, for: "5s" }, { payload: { id: "a" }, ...over })).rejects.toThrow(expected);
});

test("what a function merges is a payload like any other", async () => {
  const merge = async (keep: unknown) => {
    const [job] = await prepared({ key, for: "5s", keep }, { payload: { id: "a" } });
    const by = job?.debounce?.keep;
    return typeof by === "function" ? by({ id: "a", edits: ["1"] }, { id: "a", edits: ["2"] }) : by;
  };
  const both = (kept: z.infer<typeof payload>, next: z.infer<typeof payload>) => ({
    ...next,
    edits: [...kept.edits, ...next.edits],
  });
  expect(await merge(both)).toEqual({ id: "a", edits: ["1", "2"] });
  await expect(merge(() => ({ id: 1 }))).rejects.toThrow(InvalidPayload);
  await expect(
    merge(() => {
      throw new Error("no");
    }),
  ).rejects.toThrow("debounce.keep: threw: no");
});
