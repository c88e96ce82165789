import { expect, it } from "vitest";
import type { JobRow } from "../../src/insight/job.ts";
import { insightLimits } from "../../src/insight/insight-limits.ts";
import type { LiveCount } from "../../src/insight/live.ts";
import { statusLine } from "../../src/local/status.ts";

const due = { lane: "default", state: "QUEUED", hold: "none", blocked: false, jobs: 1, due: 1, oldestMs: 0 } as const;
const of = (over: Partial<LiveCount>): LiveCount => ({ ...due, ...over });
const live = { counts: [] as LiveCount[], cut: [] };
const none = { live, ended: { succeeded: 0, failed: 0 }, last: null, passAgeMs: null };

it("shows what is scheduled ahead apart from what waits, is held or ended in the last hour", () => {
  const counts = [
    of({ state: "PENDING", jobs: 4, due: 0 }),
    of({ jobs: 4, due: 3 }),
    of({ state: "RUNNING" }),
    of({ state: "PENDING", hold: "slot", jobs: 2 }),
  ];
  const ended = { succeeded: 128, failed: 2 };
  expect(statusLine({ ...none, live: { ...live, counts }, ended })).toBe(
    "5 scheduled ahead  3 waiting  1 running  2 held  128 succeeded  2 failed",
  );
});

it("says that a number is only the most it counts", () => {
  const cut = [{ part: "out", lane: "default" } as const];
  expect(statusLine({ ...none, live: { counts: [of({ jobs: 1_000, due: 1_000 })], cut } })).toBe("1000+ waiting");
});

it("ends with the job that ended last, and its error", () => {
  const last = { kind: "mail", id: "7", state: "FAILED", error: { code: "SMTP_550", message: null } } as JobRow;
  expect(statusLine({ ...none, last, passAgeMs: 1_000 })).toBe("no jobs yet  |  last: mail 7 FAILED (SMTP_550)");
});

it("the line begins with the scheduler's silence once that is too long", () => {
  const passAgeMs = insightLimits.passAgeMsMax + 60_000;
  expect(statusLine({ ...none, passAgeMs })).toBe("no pass for 240 s  |  no jobs yet");
});
