import { describe, expect, it } from "vitest";
import { timelineOf } from "../../src/console/job/timeline.ts";
import type { ShownJobDetail, JobState } from "../../src/console/shape.ts";
import { detailOf } from "./scene.ts";

const second = (value: number): string => new Date(value * 1_000).toISOString();

function job(
  dueAt: number,
  ...moves: readonly (readonly [at: number, to: JobState, attempt: number])[]
): ShownJobDetail {
  const state = moves.at(-1)?.[1] ?? "PENDING";
  const events = moves.map(([at, to, attempt], index) => ({
    id: String(index + 1),
    at: second(at),
    from: moves[index - 1]?.[1] ?? null,
    to,
    attempt,
    generation: attempt,
    worker: null,
    reason: null,
  }));
  return { ...detailOf(1, state), state, dueAt: second(dueAt), attempts: [], events };
}

const pieces = (detail: ShownJobDetail, now = 100) =>
  timelineOf(detail, now * 1_000).tries.map(({ attempt, pieces: all }) => ({
    attempt,
    pieces: all.map(({ phase, from, to }) => `${phase} ${from / 1_000}-${to / 1_000}`),
  }));

describe("the waterfall of a job", () => {
  it("has the wait before a try and the try in one line", () => {
    expect(pieces(job(10, [10, "QUEUED", 0], [12, "RUNNING", 1], [15, "SUCCESS", 1]))).toEqual([
      { attempt: 1, pieces: ["wait 10-12", "run 12-15"] },
    ]);
  });

  it("does not call it waiting before the job is due", () => {
    expect(pieces(job(40, [10, "PENDING", 0], [35, "QUEUED", 0], [41, "RUNNING", 1], [42, "SUCCESS", 1]))).toEqual([
      { attempt: 1, pieces: ["wait 40-41", "run 41-42"] },
    ]);
  });

  it("shows a pause as one although its message was sent at its beginning", () => {
    const moves = [
      [10, "QUEUED", 0],
      [11, "RUNNING", 1],
      [12, "RETRY_WAIT", 1],
      [12, "QUEUED", 1],
      [22, "RUNNING", 2],
      [23, "SUCCESS", 2],
    ] as const;
    expect(pieces(job(20, ...moves))).toEqual([
      { attempt: 1, pieces: ["wait 10-11", "run 11-12", "backoff 12-20"] },
      { attempt: 2, pieces: ["wait 20-22", "run 22-23"] },
    ]);
  });

  it("goes on until now while the job runs", () => {
    expect(pieces(job(10, [10, "QUEUED", 0], [12, "RUNNING", 1]), 30)).toEqual([
      { attempt: 1, pieces: ["wait 10-12", "run 12-30"] },
    ]);
  });
});
