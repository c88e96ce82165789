import { describe, expect, it } from "vitest";
import { timelineOf } from "../../src/console/job/timeline.ts";
import type { JobDetailReply } from "../../src/api/shape/job.ts";
import type { JobState } from "../../src/console/jobs/state.ts";
import { aJobDetail } from "../support/job-detail.ts";

const second = (value: number): string => new Date(value * 1_000).toISOString();

type Outcome = JobDetailReply["attempts"][number]["outcome"];

interface Planted {
  readonly dueAt: number;
  readonly createdAt: number;
  readonly state: JobState;
  readonly startedAt?: number;
  /** Attempts that ended: from, to and how. */
  readonly ended?: readonly (readonly [from: number, to: number, outcome: Outcome])[];
  readonly retriedAt?: number;
}

function job({ dueAt, createdAt, state, startedAt, ended = [], retriedAt }: Planted): JobDetailReply {
  const move = { from: null, generation: 1, worker: null, reason: "retry", caller: "ada", attempt: 1 };
  return {
    ...aJobDetail,
    state,
    scheduledFor: null,
    effectiveAt: null,
    createdAt: second(createdAt),
    dueAt: second(dueAt),
    startedAt: startedAt === undefined ? null : second(startedAt),
    attempt: ended.length + (state === "RUNNING" ? 1 : 0),
    attempts: ended.map(([from, to, outcome], index) => ({
      attempt: index + 1,
      worker: "w",
      startedAt: second(from),
      endedAt: second(to),
      durationMs: (to - from) * 1_000,
      outcome,
      error: null,
    })),
    events:
      retriedAt === undefined
        ? ended.slice(0, -1).map(([, to], index) => {
            const waits = { from: "RUNNING", to: "RETRY_WAIT", attempt: index + 1 } as const;
            return { ...move, ...waits, id: String(index), at: second(to) };
          })
        : [{ ...move, id: "1", at: second(retriedAt), to: "PENDING" }],
  };
}

const pieces = (detail: JobDetailReply, now = 100) =>
  timelineOf(detail, now * 1_000).lines.map(({ attempt, pieces: all }) => ({
    attempt,
    pieces: all.map(({ phase, from, to }) => `${phase} ${from / 1_000}-${to / 1_000}`),
  }));

describe("the waterfall of a job", () => {
  it("has the wait before an attempt and the attempt in one line", () => {
    expect(pieces(job({ createdAt: 10, dueAt: 10, state: "SUCCESS", ended: [[12, 15, "SUCCESS"]] }))).toEqual([
      { attempt: 1, pieces: ["wait 10-12", "run 12-15"] },
    ]);
  });

  it("does not call it waiting before the job is due", () => {
    expect(pieces(job({ createdAt: 10, dueAt: 40, state: "SUCCESS", ended: [[41, 42, "SUCCESS"]] }))).toEqual([
      { attempt: 1, pieces: ["wait 40-41", "run 41-42"] },
    ]);
  });

  it("parts the pause before a retry from the wait behind it, as far as its due time is known", () => {
    const ended = [
      [11, 12, "FAILED"],
      [15, 16, "FAILED"],
      [22, 23, "SUCCESS"],
    ] as const;
    expect(pieces(job({ createdAt: 10, dueAt: 20, state: "SUCCESS", ended }))).toEqual([
      { attempt: 1, pieces: ["wait 10-11", "run 11-12", "backoff 12-15"] },
      { attempt: 2, pieces: ["run 15-16", "backoff 16-20"] },
      { attempt: 3, pieces: ["wait 20-22", "run 22-23"] },
    ]);
  });

  it("counts the wait of a retried job from its retry: before it, nothing was waited for", () => {
    const ended = [[11, 12, "FAILED"]] as const;
    expect(pieces(job({ createdAt: 10, dueAt: 50, retriedAt: 50, state: "QUEUED", ended }), 60)).toEqual([
      { attempt: 1, pieces: ["wait 10-11", "run 11-12"] },
      { attempt: 2, pieces: ["wait 50-60"] },
    ]);
  });

  it("goes on until now while the job runs", () => {
    expect(pieces(job({ createdAt: 10, dueAt: 10, startedAt: 12, state: "RUNNING" }), 30)).toEqual([
      { attempt: 1, pieces: ["wait 10-12", "run 12-30"] },
    ]);
  });
});
