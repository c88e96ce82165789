import { describe, expect, test } from "vitest";
import { type EventFact, noEvidence, type RunFact, type TaskFact } from "./evidence.ts";
import { joined } from "./joined.ts";

const task = (jobId: string, after: readonly string[], over: Partial<TaskFact> = {}): TaskFact => ({
  jobId,
  after,
  state: "SUCCESS",
  notTaken: false,
  blocked: false,
  join: "all",
  preds: { open: 0, ok: after.length, bad: 0 },
  ...over,
});

const run = (tasks: readonly TaskFact[], over: Partial<RunFact> = {}): RunFact => ({
  id: "1",
  state: "DONE",
  sealed: true,
  onFailure: "skip-downstream",
  createdAt: 0,
  total: tasks.length,
  ok: tasks.length,
  failed: 0,
  skipped: 0,
  tasks,
  ...over,
});

const event = (jobId: string, to: EventFact["to"], reason: string | null = null): EventFact => ({
  jobId,
  at: 0,
  from: null,
  to,
  attempt: 1,
  generation: 1,
  worker: null,
  reason,
});

const found = (one: RunFact, events: readonly EventFact[]): readonly string[] =>
  [...joined({ ...noEvidence, endedBefore: 10, events, runs: [one] })].map(({ detail }) => detail);

describe("C7", () => {
  const tasks = [task("a", []), task("b", []), task("c", ["a", "b"])];

  test.each<[state: TaskFact["state"], ofRows: RunFact["state"], count: number]>([
    ["SUCCESS", "DONE", 0],
    ["SUCCESS", "FAILED", 1],
    ["CANCELED", "CANCELED", 0],
    ["CANCELED", "RUNNING", 1],
    ["RETRY_WAIT", "RUNNING", 0],
  ])("a task of rows that is %s while their run is %s: %i", (state, ofRows, count) => {
    const outer = run([task("a", [], { state })], { state: "RUNNING", ok: 0 });
    const rows = run([], { id: "2", starterId: "a", state: ofRows, sealed: false });
    const all = { ...noEvidence, runs: [outer, rows] };
    expect([...joined(all)]).toHaveLength(count);
    expect([...joined({ ...all, runs: [...all.runs, { ...rows, id: "3" }] })].length).toBeGreaterThan(count);
  });

  test("holds for a join that starts after its last predecessor", () => {
    expect(found(run(tasks), [event("a", "SUCCESS"), event("b", "SUCCESS"), event("c", "RUNNING")])).toEqual([]);
  });

  test("finds a join that started before its last predecessor ended, or although one failed", () => {
    expect(found(run(tasks), [event("a", "SUCCESS"), event("c", "RUNNING"), event("b", "SUCCESS")])).toHaveLength(1);
    expect(found(run(tasks), [event("a", "SUCCESS"), event("b", "FAILED"), event("c", "RUNNING")])).toHaveLength(1);
  });

  test("a retry needs a moment of its own: predecessors that had ended, also when they run again before it starts", () => {
    const again = (jobId: string): EventFact => ({ ...event(jobId, "PENDING", "resumed"), from: "CANCELED" });
    const ends = [event("a", "CANCELED"), event("b", "SKIPPED"), event("c", "CANCELED")];
    const anyEnd = run([task("a", []), task("b", []), task("c", ["a", "b"], { join: "allDone" })]);
    expect(found(anyEnd, [...ends, again("c"), again("a"), event("c", "RUNNING")])).toEqual([]);
    expect(found(anyEnd, [...ends, again("a"), again("c"), event("c", "RUNNING")])).toHaveLength(1);
  });

  test("finds what waits for ever, counters that are wrong, and a run that closes early or never", () => {
    const waits = task("c", ["a", "b"], { state: "PENDING", blocked: true, preds: { open: 1, ok: 1, bad: 0 } });
    expect(found(run([task("a", []), task("b", []), waits], { ok: 2, state: "RUNNING" }), [])).toHaveLength(1);
    expect(found(run([task("a", []), task("b", []), waits], { ok: 2, state: "RUNNING", createdAt: 10 }), [])).toEqual(
      [],
    );
    const counts = [
      task("a", [], { state: "RUNNING" }),
      task("b", []),
      { ...waits, preds: { open: 2, ok: 0, bad: 0 } },
    ];
    expect(found(run(counts, { ok: 1, state: "RUNNING" }), [])).toEqual([expect.stringContaining("instead of")]);
    expect(found(run(counts, { ok: 1 }), [])).toContainEqual(expect.stringContaining("with 2 open jobs"));
    expect(found(run(tasks, { state: "RUNNING" }), [])).toEqual([expect.stringContaining("all its jobs have ended")]);
    expect(found(run(tasks, { ok: 2 }), [])).toEqual([expect.stringContaining("instead of")]);
  });
});
