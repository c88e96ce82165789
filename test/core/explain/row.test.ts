import { expect, test } from "vitest";
import { explainRow } from "../../../src/insight/explain-row.ts";
import type { ExplainInput } from "../../../src/insight/explanation.ts";
import type { OccurrenceEndReply } from "../../../src/insight/occurrence-ends.ts";
import { reasons } from "../../../src/machine/reasons.ts";
import type { JobView, RunId } from "../../../src/machine/job.ts";
import type { OccurrenceView } from "../../../src/machine/schedule.ts";
import { aRow, hour, minute } from "../../schedules/spec.ts";
import { aHolder, aJob, anOccurrence, aPause, daily, factsOf, inputOf, intervalOf, nine } from "./facts.ts";

type Case = readonly [name: string, occurrence: Partial<OccurrenceView>, over?: Partial<ExplainInput>];

const now = nine + hour;
const paused = factsOf({ row: aRow({ spec: daily(), pause: aPause }) });
const job = (over: Partial<JobView>): { job: JobView } => ({ job: aJob(over) });

const latenesses: readonly Case[] = [null, 999, 1_000, 1_499, 1_500, 119_499, 119_500, 150_000].map((latenessMs) => [
  `ran, ${latenessMs} ms late`,
  { latenessMs },
]);

const ran: readonly Case[] = [
  ...latenesses,
  ["caught up", { outcome: "CAUGHT_UP" }],
  ["the second pass", { fold: 1 }],
  ["spread", { effectiveAt: nine + 17 * minute + 42_000 }],
  ["its job is pruned", {}, { job: null }],
  ["a failure without an error", {}, job({ state: "FAILED", failures: 1 })],
  ["a failure with an error", {}, job({ state: "FAILED", failures: 4, errorCode: "DOWN", errorMessage: "no route" })],
  ["a failure with a code alone", {}, job({ state: "FAILED", errorCode: "DOWN" })],
  ["running", {}, job({ state: "RUNNING", attempt: 2, worker: "w1" })],
  ["running, no worker", {}, job({ state: "RUNNING" })],
  ["retrying", {}, job({ state: "QUEUED", failures: 1, errorCode: "DOWN", errorMessage: "no route", dueAt: now })],
  ["retrying, no error", {}, job({ state: "PENDING", failures: 0 })],
  ["written ahead", { nominalAt: now + 1 }],
  ["written ahead, now", { nominalAt: now }],
  ["written ahead, spread", { nominalAt: now, effectiveAt: now + 1 }],
  ["written ahead, paused", { nominalAt: now + 1 }, { facts: paused }],
];

const states: readonly JobView["state"][] = ["CANCELED", "SKIPPED"];
const endOf = (over: Partial<OccurrenceEndReply>): { end: OccurrenceEndReply } => ({
  end: {
    state: "SUCCESS",
    phase: "done",
    run: { id: "7", state: "CANCELED" },
    result: "stopped",
    startedAt: null,
    finishedAt: null,
    tookMs: null,
    error: null,
    reason: null,
    ...over,
  },
});
const failed = { code: "RUN_FAILED", message: "2 of its jobs failed" };
const ofRuns: readonly Case[] = [
  ["its run was replaced", {}, endOf({ reason: "replaced" })],
  [
    "its run is being canceled",
    {},
    endOf({ reason: "run canceled", run: { id: "7", state: "CANCELING" }, result: "open" }),
  ],
  ["its run failed", {}, endOf({ run: { id: "7", state: "FAILED" }, result: "failed", error: failed })],
  ["its run is going on", {}, endOf({ run: { id: "7", state: "RUNNING" }, result: "open" })],
  ["its run succeeded", {}, endOf({ run: { id: "7", state: "DONE" }, result: "succeeded" })],
];
const why = [null, reasons.overlap, reasons.expired, reasons.lockHeld, reasons.canceled];
const stopped: readonly Case[] = [
  ...states.flatMap((state) =>
    why.map((lastReason): Case => [`${state}, ${lastReason}`, {}, { ...job({ state }), lastReason }]),
  ),
  [
    "CANCELED, replaced by its schedule",
    {},
    {
      ...job({ state: "CANCELED" }),
      lastReason: "replaced",
      lastCaller: "schedule daily, its time 2026-11-21T09:05:00Z",
    },
  ],
  ["CANCELED after an error", {}, job({ state: "CANCELED", errorCode: "DOWN", errorMessage: "no route" })],
];

const plain = [
  "paused",
  "disabled",
  "misfire",
  "expired",
  "dst-gap",
  "excluded",
  "payload",
  "no-job",
  "deleted",
  "canceled",
  "replaced",
];
const holders = [
  ["unknown", null],
  ["of the schedule", aHolder({ scheduledFor: nine - 5 * minute })],
  ["of the schedule, the day before", aHolder({ scheduledFor: nine - 24 * hour })],
  ["of another schedule", aHolder({ scheduleId: "other", scheduledFor: nine - 5 * minute })],
  ["of the schedule, made by hand", aHolder({ scheduledFor: null })],
  ["a run of the schedule", aHolder({ scheduledFor: nine - 5 * minute, runId: "7" as RunId })],
  ["a run of no schedule", aHolder({ scheduleId: null, scheduledFor: null, runId: "7" as RunId })],
] as const;

const skipped: readonly Case[] = [
  ...[...plain, "undeliverable", "a word of later code", null].map((reason): Case => [
    `skipped, ${reason}`,
    { outcome: "SKIPPED", reason },
    job({ state: "SKIPPED" }),
  ]),
  ["paused, not written ahead", { outcome: "SKIPPED", reason: "paused" }, { job: null }],
  ...[null, "text", { other: 1 }, { runId: 7 }, { runId: "7" }].map((result): Case => [
    `taken back, result ${JSON.stringify(result)}`,
    { outcome: "SKIPPED", reason: "paused" },
    job({ result }),
  ]),
  [
    "expired by its startDeadline",
    { outcome: "SKIPPED", reason: "expired" },
    { interval: intervalOf(daily({ startDeadlineMs: 5 * minute })) },
  ],
  ["expired, no version known", { outcome: "SKIPPED", reason: "expired" }, { interval: null }],
  ...["overlap", "lock-held"].flatMap((reason) =>
    holders.map(([name, holder]): Case => [`${reason}, ${name}`, { outcome: "SKIPPED", reason }, { holder }]),
  ),
  [
    "overlap, by the clock of New York",
    { outcome: "SKIPPED", reason: "overlap", localTime: "2026-11-21T04:00", timezone: "America/New_York" },
    {
      holder: aHolder({ scheduledFor: nine - 4 * hour }),
      interval: intervalOf(daily({ timezone: "America/New_York" })),
    },
  ],
  [
    "overlap, and as many wait as may",
    { outcome: "SKIPPED", reason: "overlap" },
    { holder: aHolder({ scheduledFor: nine - minute }), interval: intervalOf(daily({ overlap: "queue-all" })) },
  ],
  [
    "overlap, no version known",
    { outcome: "SKIPPED", reason: "overlap" },
    { holder: aHolder({ scheduledFor: nine - minute }), interval: null },
  ],
];

const into = { outcome: "COALESCED", reason: "into 2026-11-21T09:30" } as const;
const coalesced: readonly Case[] = [
  ["merged, the other is pruned", into],
  ["merged, without a reason", { outcome: "COALESCED", reason: null }],
  ["merged into a later time", into, { into: anOccurrence({ nominalAt: nine + hour / 2, outcome: "CAUGHT_UP" }) }],
  [
    "merged into a skipped time",
    into,
    { into: anOccurrence({ nominalAt: nine + 1, outcome: "SKIPPED", jobId: null }) },
  ],
  ["merged at one instant", into, { into: anOccurrence({ localTime: "2026-11-21T09:30" }) }],
];

const waits = { outcome: "PLANNED" } as const;
const dayPause = { ...aPause, until: now + 10 };
const planned: readonly Case[] = [
  ["planned, its job is pruned", waits, { job: null }],
  ["planned, due now", waits, job({ state: "QUEUED", dueAt: now })],
  ["planned, due", waits, job({ state: "PENDING", dueAt: now - 1 })],
  ["planned, made up for", { ...waits, nominalAt: now }, job({ state: "PENDING", dueAt: now + 1 })],
  ["planned, to come", { ...waits, nominalAt: now + 1 }, job({ state: "PENDING", dueAt: now + 1 })],
  ["planned, paused", waits, { ...job({ state: "PENDING", dueAt: now + 1 }), facts: paused }],
  ...[9, 10].map((ms): Case => [
    `planned, due ${ms} ms from now, paused for 10`,
    waits,
    { ...job({ state: "PENDING", dueAt: now + ms }), facts: factsOf({ row: aRow({ pause: dayPause }) }) },
  ]),
  ...holders.slice(0, 2).map(([name, holder]): Case => [
    `planned, until what it replaces has stopped, ${name}`,
    waits,
    {
      ...job({ state: "PENDING", hold: "slot" }),
      holder: holder === null ? null : { ...holder, canceledAt: nine + 100 },
      interval: intervalOf(daily({ overlap: "cancel-running" })),
    },
  ]),
  ...holders
    .slice(0, 3)
    .map(([name, holder]): Case => [
      `planned, held by the slot, ${name}`,
      waits,
      { ...job({ state: "PENDING", hold: "slot", dueAt: now + 1 }), holder },
    ]),
];

const line = ([name, occurrence, over]: Case): string => {
  const said = explainRow({ ...inputOf(over), occurrence: anOccurrence(occurrence) });
  return `${name} => ${said.verdict}: ${said.sentence}${said.advice === null ? "" : ` | ${said.advice}`}\n`;
};

test("each outcome of a time, with each state of its job, has its sentence and its advice", async () => {
  const cases = [...ran, ...ofRuns, ...stopped, ...skipped, ...coalesced, ...planned];
  expect(new Set(cases.map(([name]) => name)).size).toBe(cases.length);
  await expect(cases.map(line).join("")).toMatchFileSnapshot("./row.txt");
});
