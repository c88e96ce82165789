import type { PlannedOccurrence } from "../../../../src/core/ports/schedule.ts";
import type { BackfillTime } from "../../../../src/core/ports/schedule-store.ts";
import { aJob, minute } from "../../../contract/store/fixture.ts";
import { occurrenceAt } from "../../../contract/store/schedule-fixture.ts";
import { jobRow, occurrenceRow, scheduleRow } from "../rows.ts";
import { at, start, put, type Row } from "../stage.ts";
import type { Tour, World } from "../tour.ts";

/** Past times of every kind are planned again, behind jobs that an earlier backfill left, and behind none. */
export const backfills: Tour = { name: "backfills", parts: [behindOthers, behindNone] };

const slot = "backfill:mine";

/** What stands in the ledger: null is no job, "gone" a job that was pruned. */
const outcomes = ["SKIPPED", "COALESCED", "PLANNED", "FIRED", "CAUGHT_UP"];
const jobs: readonly (string | null)[] = [null, "gone", "FAILED", "CANCELED", "SKIPPED", "PENDING", "SUCCESS"];
const attempts = [0, 1];

/** What else stands at the same instant. */
const besides: readonly (Row & { readonly outcome?: string })[] = [
  { outcome: "FIRED" },
  { outcome: "COALESCED" },
  { outcome: "SKIPPED", reason: "dst-gap" },
  { outcome: "SKIPPED", reason: "overlap" },
];

interface Known {
  readonly reading: string;
  readonly ms: number;
  readonly occurrences: readonly Row[];
  readonly jobs: readonly Row[];
}

const own = ["SKIPPED", "COALESCED"];

function known(): readonly Known[] {
  const combined = outcomes.flatMap((outcome) =>
    jobs.flatMap((state) =>
      (state === "CANCELED" ? attempts : [0]).flatMap((attempt) =>
        [null, ...(own.includes(outcome) && (state === null || state === "CANCELED") ? besides : [])].map((beside) => ({
          outcome,
          state,
          attempt,
          beside,
        })),
      ),
    ),
  );
  return combined.map(({ outcome, state, attempt, beside }, n) => {
    const ms = -minute * (n + 1);
    const reading = `t-${combined.length - n}`;
    const id = (n * 37) % 101;
    const collides = beside !== null && beside.outcome !== "COALESCED" && beside["reason"] !== "dst-gap";
    const row = occurrenceRow("mine", ms, {
      outcome: collides ? "COALESCED" : outcome,
      local_time: reading,
      job_id: state === null ? null : 1_000 + id,
      lateness_ms: n,
      schedule_version: 2,
    });
    const kept = state === null || state === "gone";
    const was = jobRow(id, {
      ...(kept ? {} : { state }),
      attempt: state === "SUCCESS" ? 1 : attempt,
      schedule_id: "mine",
      slot_keys: ["old"],
      failures: attempt,
      blocked: false,
    });
    return {
      reading,
      ms,
      occurrences: [
        row,
        ...(beside === null ? [] : [occurrenceRow("mine", ms, { local_time: `beside-${reading}`, ...beside })]),
      ],
      jobs: kept ? [] : [was],
    };
  });
}

/** Rows that a given time must not be taken for: of another schedule, reading, fold or zone. */
const decoys = (readings: readonly string[]): Row[] =>
  readings.flatMap((reading, n) => [
    occurrenceRow("other", -minute * 500 - n, { local_time: reading, outcome: "SKIPPED" }),
    occurrenceRow("other", -minute * (n + 1), { local_time: `other-${reading}`, outcome: "FIRED" }),
    occurrenceRow("mine", -minute * 1_000 - n, { local_time: reading, fold: 1, outcome: "SKIPPED" }),
    occurrenceRow("mine", -minute * 2_000 - n, { local_time: reading, timezone: "Asia/Seoul", outcome: "SKIPPED" }),
  ]);

const time = (localTime: string, ms: number, n: number, key: Partial<PlannedOccurrence> = {}): BackfillTime => ({
  version: 3 + (n % 2),
  occurrence: occurrenceAt(start + ms, {
    localTime,
    ...key,
    missedCount: n,
    job: aJob({ kind: "again", lane: n % 2 === 0 ? "default" : "mail", slotKeys: n % 3 === 0 ? [] : ["z", slot] }),
  }),
});

/** Jobs that wait already, of which one alone is of this schedule, planned, open and under the slot. */
const waiting: readonly (readonly [
  schedule: string,
  ms: number,
  outcome: string,
  job: Row & { readonly state?: string },
])[] = [
  ["mine", 7_000, "PLANNED", { slot_keys: ["a", slot] }],
  ["mine", 5_000, "PLANNED", { slot_keys: [slot] }],
  ["mine", 90_000, "PLANNED", { slot_keys: ["a"] }],
  ["mine", 91_000, "FIRED", { slot_keys: [slot] }],
  ["mine", 92_000, "PLANNED", { slot_keys: [slot], state: "SUCCESS" }],
  ["other", 93_000, "PLANNED", { slot_keys: [slot] }],
];

async function world(pool: World["pool"]): Promise<readonly BackfillTime[]> {
  const all = known();
  await put(pool, "schedule", [scheduleRow("mine"), scheduleRow("other")]);
  await put(pool, "job", [...all.flatMap((one) => one.jobs), jobRow(500, { state: "SKIPPED" })]);
  await put(pool, "occurrence", [
    ...all.flatMap((one) => one.occurrences),
    ...decoys(all.map(({ reading }) => reading)),
    occurrenceRow("mine", -minute * 5_000, { local_time: "taken" }),
  ]);
  const added = ["new-c", "new-a", "new-b"].map((reading, n) => time(reading, -minute * (3_000 + n), n));
  return [
    ...all.map(({ reading, ms }, n) => time(reading, ms, n)),
    ...added,
    time("other reading", -minute * 5_000, 1),
    time("late", 1, 2),
    // Of those with one instant the first is written: by reading, fold and zone.
    ...[3, 1, 0, 2].map((n) => time(`one-${n}`, -minute * 6_000, n)),
    ...[1, 0, 2, 3].map((n) => time(`two-${n}`, -minute * 6_500, n)),
    ...[1, 0].map((n) => time("fold", -minute * 7_000, n, { fold: n === 0 ? 0 : 1 })),
    ...[0, 1].map((n) => time("again", -minute * 7_500, n, { fold: n === 0 ? 0 : 1 })),
    time("zone", -minute * 8_000, 5),
    time("zone", -minute * 8_000, 6, { timezone: "Asia/Seoul" }),
  ];
}

async function behindOthers({ pool, store }: World): Promise<void> {
  const times = await world(pool);
  await put(
    pool,
    "job",
    waiting.map(([, ms, , job], n) => jobRow(800 + n, { due_at: at(ms), ...job })),
  );
  await put(
    pool,
    "occurrence",
    waiting.map(([schedule, ms, outcome], n) =>
      occurrenceRow(schedule, ms, { outcome, job_id: 1_800 + n, local_time: `waits-${n}` }),
    ),
  );
  await store.backfill("mine", times, { paceMs: 1_000, slotKey: slot });
  await store.backfill("mine", times.slice(-2), { paceMs: 500, slotKey: slot });
}

async function behindNone({ pool, store }: World): Promise<void> {
  const times = await world(pool);
  await store.backfill("mine", times, { paceMs: 1_000, slotKey: slot });
  await store.backfill("none", times, { paceMs: 1_000, slotKey: slot });
}
