import { expect, test } from "vitest";
import { event, goodScene, jobFact } from "./scene.ts";
import { type Sent, signaled } from "./signaled.ts";

const sent = (by: string, answer: Sent["answer"], at = 15): Sent => ({ runId: "r", kind: "mail", by, answer, at });

/** The good scene's job waits, from the instant `releasedAt`, for a signal that a later task saw. */
function found(sends: readonly Sent[], { seen = ["ada"] as (string | null)[], releasedAt = 15, errorCode = "" } = {}) {
  const good = goodScene();
  const [attempt] = good.attempts;
  const to = errorCode === "" ? "SUCCESS" : "FAILED";
  const events = [
    event("RUNNING", "SUCCESS", 1, "w", { jobId: "3", at: releasedAt }),
    event("QUEUED", "RUNNING", 1, "w", { at: 30 }),
    event("RUNNING", to, 1, "w", { at: 30 }),
  ];
  const waits = { state: to, notTaken: false, blocked: false, join: "all", preds: { open: 0, ok: 1, bad: 0 } } as const;
  const figures = { sealed: true, onFailure: "stop", createdAt: 0, total: 1, ok: 1, failed: 0, skipped: 0 } as const;
  const evidence = {
    ...good,
    jobs: [jobFact({ runId: "r" }), jobFact({ id: "2", kind: "then", runId: "r" })],
    events,
    attempts: attempt === undefined ? [] : [{ ...attempt, errorCode }],
    runs: [{ id: "r", state: "DONE" as const, ...figures, tasks: [{ jobId: "1", after: ["3"], ...waits }] }],
    signals: {
      waitMs: new Map([["mail", 10]]),
      sent: sends,
      seen: seen.map((by) => ({ jobId: "2", kind: "mail", by })),
    },
  };
  return [...signaled(evidence)].map(({ detail }) => detail).join("\n");
}

test.each<[string, Sent[], Parameters<typeof found>[1], RegExp]>([
  ["one signal that its follower saw", [sent("ada", "taken"), sent("bob", "conflict")], {}, /^$/],
  ["a signal whose answer was lost", [sent("ada", null)], {}, /^$/],
  ["a wait that was long enough", [], { seen: [null], releasedAt: 20 }, /^$/],
  ["two signals taken", [sent("ada", "taken"), sent("bob", "taken")], {}, /took 2 signals/],
  ["a repetition refused", [sent("ada", "taken"), sent("ada", "conflict")], {}, /took ada, and ada is conflict/],
  ["a signal forgotten", [sent("ada", "taken")], { seen: [null] }, /saw null, taken was ada/],
  ["another one seen", [sent("bob", "taken"), sent("ada", "conflict")], {}, /saw ada, taken was bob/],
  ["two seen", [sent("ada", null), sent("bob", null)], { seen: ["ada", "bob"] }, /saw ada and bob/],
  ["a wait that was too short", [sent("ada", "late")], { seen: [], releasedAt: 25 }, /waited 5 ms of 10/],
  ["both ends", [sent("ada", "taken")], { errorCode: "SIGNAL_TIMEOUT" }, /ended by its time after its signal/],
])("C15, %s", (_name, sends, over, expected) => {
  expect(found(sends, over)).toMatch(expected);
});
