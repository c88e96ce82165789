import { noEvidence, type Evidence, type EventFact, type JobFact, type WorkerFact } from "./evidence.ts";

/** One job that was enqueued, ran once and succeeded: evidence without fault, to be bent by a test. */
export function goodScene(): Evidence {
  return {
    ...noEvidence,
    enqueues: [{ mark: "e1", kind: "mail", key: null, answer: { id: "1", created: true } }],
    workers: [claimed(), { is: "settled", worker: "w", jobId: "1", attempt: 1, to: "SUCCESS", written: true }],
    fenced: [
      { name: "pass", token: 1 },
      { name: "pass", token: 2 },
    ],
    locks: [
      { is: "taken", name: "pass", owner: "a", fence: 1, at: 0, leaseMs: 1_000 },
      { is: "kept", name: "pass", owner: "a", fence: 1, at: 500 },
      { is: "taken", name: "pass", owner: "b", fence: 2, at: 1_500, leaseMs: 1_000 },
    ],
    deadLetters: [{ jobId: "1", generation: 0, receives: 5, troubledReceives: 5, drained: true }],
    effects: [{ key: "1:send", jobId: "1", attempt: 1 }],
    transactional: [{ key: "tx", jobId: "1", attempt: 1 }],
    jobs: [jobFact()],
    events: [event(null, "QUEUED", 0), event("QUEUED", "RUNNING", 1, "w"), event("RUNNING", "SUCCESS", 1, "w")],
    attempts: [{ jobId: "1", attempt: 1, worker: "w", outcome: "SUCCESS", errorCode: null }],
    slots: [{ key: "cap:mail", jobId: null, freeFrom: null }],
    occurrences: [{ scheduleId: "s", nominalAt: 60_000, outcome: "FIRED", reason: null, jobId: "1" }],
    expectedTimes: new Map([["s", [60_000]]]),
    caps: [{ key: "cap:mail", size: 1, kinds: ["mail"] }],
    transactionalKinds: ["mail"],
    readAt: 200_000,
    endedBefore: 100_000,
  };
}

export const claimed = (over: Partial<WorkerFact & { is: "claimed" }> = {}): WorkerFact => ({
  is: "claimed",
  worker: "w",
  jobId: "1",
  attempt: 1,
  at: 10,
  leaseMs: 1_000,
  askedGeneration: 1,
  generation: 1,
  dueAt: 0,
  batch: 1,
  ...over,
});

export const jobFact = (over: Partial<JobFact> = {}): JobFact => ({
  id: "1",
  kind: "mail",
  key: null,
  state: "SUCCESS",
  hold: "none",
  dueAt: 0,
  generation: 1,
  attempt: 1,
  maxAttempts: 4,
  failures: 0,
  scheduleId: null,
  mark: "e1",
  parentId: null,
  ...over,
});

/** Generation 1 and instant 20 unless a test says otherwise. */
export function event(
  from: EventFact["from"],
  to: EventFact["to"],
  attempt: number,
  worker: string | null = null,
  over: Partial<EventFact> = {},
): EventFact {
  return { jobId: "1", at: 20, from, to, attempt, generation: 1, worker, reason: null, ...over };
}
