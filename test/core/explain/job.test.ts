import { expect, test } from "vitest";
import type { SlotHolders } from "../../../src/admission/gate.ts";
import { explainJob, type JobExplanation } from "../../../src/insight/explain-job.ts";
import { reasons } from "../../../src/machine/reasons.ts";
import type { JobId, JobView, RunId } from "../../../src/machine/job.ts";
import type { WaitingFacts } from "../../../src/machine/waiting.ts";
import { hour } from "../../schedules/spec.ts";
import { aJob, aPause, nine } from "./facts.ts";

const now = nine + hour;
const facts: WaitingFacts = {
  closedName: null,
  laneRefusal: null,
  lanePause: null,
  blackoutUntil: null,
  circuit: null,
  schedule: null,
  openPredecessors: 2,
  awaitsSignal: false,
  predecessors: ["1", "2"] as unknown as readonly JobId[],
  ahead: { count: 3, isMore: false },
  heldBefore: { count: 4, isMore: true },
  runningInLane: { count: 2, isMore: false },
  batchOthers: 0,
  workerSeenAt: now,
  failedFirst: null,
  started: null,
  redrive: null,
  lastReason: null,
};
const first = { jobId: "9" as JobId, runId: "4" as RunId, task: "load", errorCode: "DOWN" };
const circuit = { name: "stripe", ended: 20, failed: 18, code: "HTTP_503", until: now + hour, probe: null };
const slot: SlotHolders = {
  key: "cap:work",
  taken: 3,
  size: 5,
  holders: [{ job: "6" }, { job: "8" }],
};

type Case = readonly [name: string, job: Partial<JobView>, facts?: Partial<WaitingFacts>, slot?: SlotHolders];

const ends = ["SUCCESS", "FAILED", "CANCELED", "SKIPPED"] as const;
const down = { errorCode: "DOWN" };
const upstream = { lastReason: reasons.upstream };
const ended: readonly Case[] = [
  ...ends.flatMap((state): readonly Case[] => [
    [`${state}, no reason and no error`, { state }],
    [`${state}, with an error`, { state, ...down, finishedAt: now }],
    [`${state}, with a reason`, { state }, { lastReason: "canceled" }],
    [`${state}, with both`, { state, ...down }, upstream],
    [`${state}, its lock was held`, { state }, { lastReason: reasons.lockHeld }, slot],
    [`${state} upstream, after one that failed`, { state, finishedAt: now }, { ...upstream, failedFirst: first }],
  ]),
  ["SUCCESS of a starter whose run failed", { state: "SUCCESS" }, { failedFirst: { ...first, errorCode: null } }],
  [
    "SUCCESS of a starter whose run tolerates",
    { state: "SUCCESS" },
    { started: { runId: "4" as RunId, state: "DONE", failed: 5, done: 178, total: 178 } },
  ],
  ["SKIPPED, but not upstream", { state: "SKIPPED" }, { failedFirst: first }],
  ["SKIPPED, its lock was held, by which job is not known", { state: "SKIPPED" }, { lastReason: reasons.lockHeld }],
];

const schedule = (over: Partial<NonNullable<WaitingFacts["schedule"]>>) => ({
  schedule: { pause: null, enabled: true, ...over },
});
const waits: readonly Case[] = [
  ["RUNNING on a worker", { state: "RUNNING", worker: "w1", startedAt: nine }],
  ["RUNNING on a task, since when is not known", { state: "RUNNING", worker: "task/t1:x" }],
  ...(["PENDING", "QUEUED", "RETRY_WAIT"] as const).map((state): Case => [
    `${state}, blocked`,
    { state, blocked: true },
  ]),
  ["its schedule is on", { state: "PENDING", attempt: 0 }, schedule({})],
  ["its schedule is off", { state: "PENDING", attempt: 0 }, schedule({ enabled: false })],
  ["its schedule is off, and it was tried", { state: "PENDING", attempt: 1 }, schedule({ enabled: false })],
  ["its schedule is paused", { state: "PENDING", attempt: 0, dueAt: now + 1 }, schedule({ pause: aPause })],
  ["its schedule is paused, and it was tried", { state: "PENDING", attempt: 1 }, schedule({ pause: aPause })],
  ...[-1, 0, 1].flatMap((ms) =>
    [-5, 5].map((dueMs): Case => [
      `its schedule is paused until ${ms} ms from now, and it is due ${dueMs} ms from now`,
      { state: "PENDING", attempt: 0, dueAt: now + dueMs },
      schedule({ pause: { ...aPause, until: now + ms } }),
    ]),
  ),
  [
    "its schedule is paused until after it is due",
    { state: "PENDING", attempt: 0, dueAt: now + 5 },
    schedule({ pause: { ...aPause, until: now + 6 } }),
  ],
  ["on hold", { state: "PENDING", hold: "slot", heldOn: "cap:work" }, { heldBefore: { count: 0, isMore: false } }],
  [
    "on hold for its key",
    { state: "PENDING", hold: "slot", heldOn: "cap:work#tenant-7" },
    { heldBefore: { count: 12, isMore: false } },
    { ...slot, key: "cap:work#tenant-7", size: 5 },
  ],
  [
    "on hold for its rate",
    { state: "PENDING", hold: "slot", heldOn: "rate:work" },
    { heldBefore: { count: 37, isMore: false } },
    { ...slot, key: "rate:work", size: 100, windowMs: 1_000, nextAt: now + 370 },
  ],
  [
    "on hold for a shared rate",
    { state: "PENDING", hold: "slot", heldOn: "rate:@stripe" },
    {},
    { ...slot, key: "rate:@stripe", size: 100, windowMs: 1_000, nextAt: now + 370 },
  ],
  [
    "waiting for the turn of its key",
    { state: "PENDING", hold: "slot", heldOn: "turn:bulk#0#tenant-7", lane: "bulk" },
    { heldBefore: { count: 12, isMore: false } },
  ],
  [
    "waiting for its turn with a low priority",
    { state: "RETRY_WAIT", hold: "slot", heldOn: "turn:bulk#1#", lane: "bulk" },
    { heldBefore: { count: 100, isMore: true } },
  ],
  ["on hold for a circuit", { state: "PENDING", hold: "paused" }, { circuit }],
  [
    "on hold for a circuit whose probe is out",
    { state: "PENDING", hold: "paused" },
    { circuit: { ...circuit, probe: "7" as JobId } },
  ],
  [
    "on hold for a circuit that is closed again",
    { state: "PENDING", hold: "paused" },
    { circuit: { ...circuit, until: null } },
  ],
  ["on hold, holders known", { state: "PENDING", hold: "slot", heldOn: "cap:work" }, {}, slot],
  [
    "its lane is paused",
    { state: "PENDING", dueAt: now + 1 },
    { closedName: "mail", laneRefusal: reasons.lanePaused, lanePause: aPause },
  ],
  [
    "its lane is paused until then",
    { state: "QUEUED" },
    { closedName: "mail", laneRefusal: reasons.lanePaused, lanePause: { ...aPause, until: now + 5, reason: "mail" } },
  ],
  [
    "its lane is in a blackout",
    { state: "QUEUED" },
    { closedName: "mail", laneRefusal: reasons.blackout, blackoutUntil: now + 5 },
  ],
  [
    "its kind is in a blackout",
    { state: "QUEUED" },
    { closedName: "kind:work", laneRefusal: reasons.blackout, blackoutUntil: now + 5 },
  ],
  [
    "its kind is paused",
    { state: "QUEUED" },
    { closedName: "kind:work", laneRefusal: reasons.lanePaused, lanePause: aPause },
  ],
  [
    "due after the blackout of its lane",
    { state: "PENDING", dueAt: now + 9 },
    { closedName: "mail", laneRefusal: reasons.blackout, blackoutUntil: now + 5 },
  ],
  [
    "on hold in a paused lane",
    { state: "PENDING", hold: "slot", heldOn: "cap:work" },
    { closedName: "mail", laneRefusal: reasons.lanePaused, lanePause: aPause },
    slot,
  ],
  ...(["PENDING", "QUEUED"] as const).flatMap((state) =>
    [-1, 0, 1].map((ms): Case => [`${state}, due ${ms} ms from now`, { state, attempt: 0, dueAt: now + ms }]),
  ),
];

const codes = ["NO_ROOM", "TASK_NOT_STARTED", "UNKNOWN_KIND", "RATE_LIMITED", "DOWN", null];
const early: readonly Case[] = [
  ...codes.map((errorCode) => [errorCode, 2, 1] as const),
  ...codes.slice(0, 4).map((errorCode) => [errorCode, 0, 1] as const),
  ...([null, "DOWN"] as const).map((errorCode) => [errorCode, 1, 0] as const),
].map(([errorCode, attempt, failures]): Case => [
  `early after ${errorCode}, attempt ${attempt}, failures ${failures}`,
  { state: "RETRY_WAIT", errorCode, errorMessage: "why", attempt, failures, interruptions: 5, dueAt: now + 1_000 },
]);

const queued: readonly Case[] = [
  [
    "debounced",
    {
      state: "QUEUED",
      dueAt: now + 1_000,
      joined: 7,
      dueAtMost: now + 60_000,
      attempt: 0,
      failures: 0,
      errorCode: null,
    },
  ],
  [
    "queued, waits for others of its batch",
    { state: "QUEUED", dueAt: now + 1_000, batchKey: "tenant-7", attempt: 0, failures: 0, errorCode: null },
    { batchOthers: 12 },
  ],
  [
    "queued, due later than its batch waits",
    { state: "QUEUED", dueAt: now + 2_001, batchKey: "tenant-7", attempt: 0, failures: 0, errorCode: null },
    { batchOthers: 12 },
  ],
  ["running with others of its batch", { state: "RUNNING", batchKey: "tenant-7" }, { batchOthers: 37 }],
  ["queued behind some", { state: "QUEUED" }, { ahead: { count: 100, isMore: true }, workerSeenAt: null }],
  ["queued, none runs", { state: "QUEUED" }, { runningInLane: { count: 0, isMore: false }, workerSeenAt: null }],
  [
    "queued, none was seen to run",
    { state: "QUEUED" },
    { runningInLane: { count: 0, isMore: true }, workerSeenAt: null },
  ],
  [
    "queued, none runs, seen long ago",
    { state: "QUEUED" },
    { runningInLane: { count: 0, isMore: false }, workerSeenAt: nine },
  ],
  ["queued, none runs, just seen", { state: "QUEUED" }, { runningInLane: { count: 0, isMore: false } }],
];

const textOf = ({ cause, sentence, advice, until, waitsFor }: JobExplanation): string =>
  [
    `${cause}: ${sentence}`,
    ...(advice === null ? [] : [advice]),
    ...(until === null ? [] : [`until ${until - now} ms from now`]),
    ...(waitsFor.length === 0 ? [] : [`waits for ${waitsFor.join(", ")}`]),
  ].join(" | ");

test("each reason for which a job does not run has its sentence, its advice, its time and its jobs", async () => {
  const cases = [...ended, ...waits, ...early, ...queued];
  expect(new Set(cases.map(([name]) => name)).size).toBe(cases.length);
  const lines = cases.map(([name, job, over = {}, holders = null]) => {
    const context = { now, slot: holders, batchWaitMs: 2_000 };
    const of = explainJob(aJob({ scheduleId: "daily", ...job }), { ...facts, ...over }, context);
    return `${name} => ${textOf(of)}\n`;
  });
  await expect(lines.join("")).toMatchFileSnapshot("./job.txt");
});
