import { describe, expect, test } from "vitest";
import { checkInvariants } from "./check.ts";
import { handedOff } from "./enqueued.ts";
import type { Evidence } from "./evidence.ts";
import { unneededHelp } from "./healthy.ts";
import { claimed, event, goodScene, jobFact } from "./scene.ts";

const good = goodScene();
/** What the checker says about the good scene with some facts replaced. */
const broken = (over: Partial<Evidence>): readonly string[] =>
  checkInvariants({ ...good, ...over }).map(({ invariant, detail }) => `${invariant} ${detail}`);

const next = { scheduleId: "next", nominalAt: 60_000, outcome: "FIRED", reason: null, jobId: "2" };
/** The good scene's schedule, done at half a second past, with another one behind it that started at `at`. */
const followed = (rows: Evidence["occurrences"], at = 61_000): Partial<Evidence> => ({
  chains: [{ id: "next", after: "s", withinMs: 10_000 }],
  occurrences: [...good.occurrences, ...rows],
  events: [
    { ...event("RUNNING", "SUCCESS", 1, "w"), at: 60_500 },
    { ...event("QUEUED", "RUNNING", 1, "w"), jobId: "2", at },
  ],
});

test("a scene without fault breaks nothing", () => {
  expect(checkInvariants(good)).toEqual([]);
});

describe("the checker sees", () => {
  test.each<[string, Partial<Evidence>, RegExp]>([
    [
      "an acknowledged enqueue without a job",
      { jobs: [], events: [], attempts: [], occurrences: [], expectedTimes: new Map(), transactional: [], workers: [] },
      /C1 enqueue e1 .* does not exist/,
    ],
    ["an acknowledgement that names another job", { jobs: [jobFact({ mark: "e2" })] }, /C1 .* is another job/],
    ["a job that no client enqueued", { enqueues: [] }, /C1 job 1 .* enqueued by no client/],
    [
      "a job that follows no run",
      { jobs: [jobFact(), jobFact({ id: "2", mark: null, followsRun: "9" })] },
      /C1 job 2 follows run 9, which does not exist/,
    ],
    [
      "a child of a job that did not succeed",
      { jobs: [jobFact(), jobFact({ id: "2", mark: null, parentId: "9" })] },
      /C1 job 2 is a child of 9/,
    ],
    [
      "a child of an earlier try",
      { jobs: [jobFact(), jobFact({ id: "2", mark: null, parentId: "1", parentAttempt: 3 })] },
      /C1 job 2 was left by try 3/,
    ],
    ["a missing child", { childrenOf: new Map([["mail", 1]]) }, /C1 job 1 succeeded with 0 children, not 1/],
    ["a job that never ended", { jobs: [jobFact({ state: "QUEUED" })] }, /C2 job 1 .* is still QUEUED/],
    [
      "a transition that is not legal",
      { events: [event(null, "QUEUED", 0), event("QUEUED", "SUCCESS", 1)] },
      /C3 .* not a legal transition/,
    ],
    [
      "a gap in the chain",
      { events: [event(null, "QUEUED", 0), event("RUNNING", "SUCCESS", 1, "w")] },
      /C3 .* the event before left it QUEUED/,
    ],
    [
      "a row that its events do not explain",
      { jobs: [jobFact({ state: "FAILED" })] },
      /C3 job 1 is FAILED, its last event says SUCCESS/,
    ],
    [
      "QUEUED without a new generation",
      { events: [event(null, "QUEUED", 0), event("QUEUED", "RUNNING", 1, "w"), event("RUNNING", "QUEUED", 1, "w")] },
      /C3 .* generation is still 1/,
    ],
    [
      "an outcome that a worker was answered and no event says",
      { workers: [claimed(), { is: "settled", worker: "w", jobId: "1", attempt: 2, to: "SUCCESS", written: true }] },
      /C4 .* no event says so/,
    ],
    [
      "an outcome that belongs to another worker",
      { workers: [claimed(), { is: "settled", worker: "x", jobId: "1", attempt: 1, to: "SUCCESS", written: true }] },
      /C4 .* by w/,
    ],
    ["two workers with one attempt", { workers: [claimed(), claimed({ worker: "x" })] }, /C4 .* which w holds/],
    [
      "a claim with an old message",
      { workers: [claimed({ askedGeneration: 0 })] },
      /C4 .* generation 0, the row has 1/,
    ],
    ["a claim before the due time", { workers: [claimed({ dueAt: 15 })] }, /C4 .* 5 ms before it was due/],
    [
      "a rescue within a lease",
      {
        events: [
          event(null, "QUEUED", 0),
          event("QUEUED", "RUNNING", 1, "w"),
          event("RUNNING", "QUEUED", 1, "w", { reason: "lost", generation: 2 }),
        ],
      },
      /C4 .* 990 ms before the lease it was granted ended/,
    ],
    [
      "a batch that was charged for its death",
      {
        workers: [claimed({ batch: 2, leaseMs: 1 })],
        events: [
          event(null, "QUEUED", 0),
          event("QUEUED", "RUNNING", 1, "w"),
          event("RUNNING", "FAILED", 1, "w", { reason: "lost" }),
        ],
      },
      /C4 .* in a batch of 2 and was charged/,
    ],
    ["an attempt without its row", { attempts: [] }, /C4 .* its attempt row says undefined/],
    [
      "an attempt row without an event",
      { attempts: [...good.attempts, { jobId: "1", attempt: 2, worker: "w", outcome: "SUCCESS", errorCode: null }] },
      /C4 attempt row 1\/2/,
    ],
    [
      "two keys for one effect",
      { effects: [...good.effects, { key: "other", jobId: "1", attempt: 2 }] },
      /C5 job 1 used two keys/,
    ],
    ["an effect made twice by one try", { effects: [...good.effects, ...good.effects] }, /C5 attempt 1 .* twice/],
    [
      "a transactional effect too many",
      { transactional: [...good.transactional, ...good.transactional] },
      /C5 job 1 is SUCCESS and wrote 2/,
    ],
    [
      "a transactional effect of a job that failed",
      { jobs: [jobFact({ state: "FAILED" })] },
      /C5 job 1 is FAILED and wrote 1/,
    ],
    [
      "a nominal time without a row",
      { expectedTimes: new Map([["s", [60_000, 120_000]]]) },
      /C8 s has no row for 1970-01-01T00:02/,
    ],
    ["a row for a time that is not nominal", { expectedTimes: new Map([["s", []]]) }, /C8 s has a row .* not nominal/],
    ["a time that has two rows", { occurrences: [...good.occurrences, ...good.occurrences] }, /C8 s has two rows/],
    [
      "a past time that is still PLANNED",
      { occurrences: [{ scheduleId: "s", nominalAt: 60_000, outcome: "PLANNED", reason: null, jobId: "1" }] },
      /C8 .* still PLANNED/,
    ],
    [
      "a time that FIRED nothing",
      { occurrences: [{ scheduleId: "s", nominalAt: 60_000, outcome: "FIRED", reason: null, jobId: "7" }] },
      /C8 .* its job never ran/,
    ],
    ["a chain without a row within its time", followed([]), /C8 next 1970-01-01T00:01.* has no row within its time/],
    ["a chain that has two rows", followed([next, next]), /C8 next .* has two rows/],
    ["a chain at another time", followed([next, { ...next, nominalAt: 61_000 }]), /C8 next .* follows no time of s/],
    [
      "a chain that skipped what was done",
      followed([{ ...next, outcome: "SKIPPED", reason: "not-followed", jobId: null }]),
      /C8 next .* is SKIPPED, and what it follows was done/,
    ],
    ["a chain behind nothing", { ...followed([next]), events: [] }, /C8 next .* was not done in time/],
    ["a chain before the end", followed([next], 60_400), /C8 next .* started before the end of what it follows/],
    [
      "a token that went back",
      { fenced: [...good.fenced, { name: "pass", token: 1 }] },
      /C9 pass: a write with token 1 .* one with 2/,
    ],
    [
      "two holders of one token",
      {
        fenced: [
          { name: "pass", token: 2, by: "a" },
          { name: "pass", token: 2, by: "b" },
        ],
      },
      /C9 pass: a and b both wrote with token 2/,
    ],
    [
      "a lock taken within a lease",
      { locks: good.locks.map((fact) => (fact.is === "taken" && fact.owner === "b" ? { ...fact, at: 1_200 } : fact)) },
      /C9 pass: b took it 300 ms before/,
    ],
    [
      "a message left in a dead-letter queue",
      { deadLetters: good.deadLetters.map((letter) => ({ ...letter, drained: false })) },
      /C10 .* lies in the dead-letter queue/,
    ],
    [
      "a message that was returned to wait",
      { deadLetters: good.deadLetters.map((letter) => ({ ...letter, troubledReceives: 1 })) },
      /C10 .* only 1 met a fault/,
    ],
    [
      "an undeliverable job without three deaths",
      { events: [...good.events.slice(0, 1), event("QUEUED", "FAILED", 0, null, { reason: "undeliverable" })] },
      /C10 .* after 1 dead messages/,
    ],
    [
      "a slot that leaked",
      { slots: [{ key: "cap:mail", jobId: "1", freeFrom: null }] },
      /C12 a slot of cap:mail is held by job 1/,
    ],
    [
      "a slot that a canceled job's handler still needed",
      {
        gone: [],
        jobs: [jobFact(), jobFact({ id: "2" })],
        events: [
          event("QUEUED", "RUNNING", 1),
          event("RUNNING", "CANCELED", 1),
          event("QUEUED", "RUNNING", 1, null, { jobId: "2" }),
        ],
      },
      /C12 2 jobs of cap:mail ran at once/,
    ],
    [
      "a cap that was exceeded",
      {
        jobs: [jobFact(), jobFact({ id: "2" })],
        events: [event("QUEUED", "RUNNING", 1), event("QUEUED", "RUNNING", 1, null, { jobId: "2" })],
      },
      /C12 2 jobs of cap:mail ran at once; the cap is 1/,
    ],
    [
      "a time that is judged too well",
      {
        occurrences: [{ scheduleId: "nightly", nominalAt: -5_000, outcome: "FIRED", reason: null, jobId: "1" }],
        objectives: [
          {
            scheduleId: "nightly",
            promised: "on time" as const,
            withinMs: 1_000,
            from: -9_000,
            until: 0,
            times: 1,
            missed: 0,
          },
        ],
      },
      /C14 nightly, on time 1000 ms: 0 of 1 missed instead of 1 of 1/,
    ],
  ])("%s", (_name, over, expected) => {
    expect(broken(over).join("\n")).toMatch(expected);
  });

  test("a QUEUED job that is due and has no message, unless its outbox batch is open", () => {
    const jobs = [jobFact({ state: "QUEUED", generation: 3 })];
    const scene = { ...good, jobs };
    expect([...handedOff(scene, [])]).toHaveLength(1);
    expect([...handedOff(scene, [{ jobId: "1", generation: 2 }])]).toHaveLength(1);
    expect([...handedOff(scene, [{ jobId: "1", generation: 3 }])]).toEqual([]);
    expect([...handedOff({ ...scene, openBatches: [{ members: [{ jobId: "1", generation: 3 }] }] }, [])]).toEqual([]);
  });

  test("help that no system should need", () => {
    const calm = { ...good, deadLetters: [] };
    expect([...unneededHelp(calm)]).toEqual([]);
    const rescued = event("RUNNING", "QUEUED", 1, "w", { reason: "lost" });
    expect([...unneededHelp({ ...calm, events: [rescued] })]).toHaveLength(1);
    expect([...unneededHelp(good)]).toHaveLength(1);
  });
});
