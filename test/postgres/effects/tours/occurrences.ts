import {
  findHolder,
  readOccurrencesAt,
  readOccurrencesBetween,
} from "../../../../src/adapters/postgres/sql/schedule-control.ts";
import { jobRow, occurrenceRow, runRow } from "../rows.ts";
import { send, at, start, put, type Row } from "../stage.ts";
import type { Tour, World } from "../tour.ts";

/** The ledger read by time and by reading, and who held the slot that a job needed. */
export const occurrences: Tour = { name: "occurrences", parts: [ledger, holders, looks] };

const zones = ["UTC", "Asia/Seoul"];

/** Rows that share their time, their reading, their fold or their zone with others: only one order is theirs. */
const shared = (schedule: string): Row[] =>
  [2, 0, 1].flatMap((minute) =>
    ["b", "a"].flatMap((reading) =>
      [0, 1].flatMap((fold) =>
        zones.map((timezone) =>
          occurrenceRow(schedule, minute * 60_000, {
            local_time: `${minute === 1 ? "same" : minute}-${reading}`,
            fold,
            timezone,
            outcome: "COALESCED",
            lateness_ms: minute * 100 + fold,
          }),
        ),
      ),
    ),
  );

async function ledger(world: World): Promise<void> {
  const { pool, store } = world;
  await put(pool, "occurrence", [
    ...shared("mine"),
    ...shared("other"),
    occurrenceRow("mine", 1, { local_time: "same-a", timezone: "Europe/Paris", outcome: "COALESCED" }),
    occurrenceRow("mine", 60_001, { local_time: "0-a", timezone: "Europe/Paris", outcome: "COALESCED" }),
  ]);
  const rows = await store.occurrences("mine", 100);
  for (const n of [0, 1, 2, 5, 9, 14, rows.length - 1]) await store.occurrences("mine", 3, rows[n]);
  await store.occurrences("mine", 1);
  const [from, until] = [start, start + 60_000];
  for (const limit of [3, 9, 100]) {
    await send(world, readOccurrencesBetween, ["mine", from, until, limit]);
    await send(world, readOccurrencesBetween, ["mine", from + 1, until, limit]);
    await send(world, readOccurrencesAt, ["mine", ["same-a", "0-b", "none"], [from, until + 60_000], limit]);
    await send(world, readOccurrencesAt, ["mine", ["same-a"], [until + 1], limit]);
  }
  await send(world, readOccurrencesAt, ["mine", [], [until], 100]);
}

const keys = ["lock:a", "cap:b"];
const look = { prefix: "lock:", at: start, back: 100, ahead: 100, times: 10 };

async function hold(world: World, id: number, over: Partial<typeof look> = {}): Promise<void> {
  const { prefix, at: when, back, ahead, times } = { ...look, ...over };
  await send(world, findHolder, [1_000 + id, prefix, when, back, ahead, times]);
}

interface Candidate {
  readonly job?: Row & { readonly state?: string };
  readonly history?: Row;
  readonly runs?: readonly (Row & { readonly state?: string })[];
}

const move = { from_state: "RUNNING", to_state: "RETRY_WAIT", attempt: 1, generation: 1 };

/** What may have held a slot, and what comes as close to that as it can. */
const candidates: readonly Candidate[] = [
  { job: { state: "RUNNING", started_at: at(0) } },
  { job: { state: "RUNNING", started_at: at(1) } },
  { job: { state: "RUNNING", started_at: at(-1) } },
  { job: { state: "SUCCESS", started_at: at(1), finished_at: at(5) } },
  { job: { state: "SUCCESS", started_at: at(2), finished_at: at(5) } },
  { job: { state: "SUCCESS", started_at: at(0), finished_at: at(0) } },
  { job: { state: "SUCCESS", started_at: at(-5), finished_at: at(-1) } },
  { job: { state: "SUCCESS", started_at: at(-5), finished_at: at(1) } },
  { job: { state: "FAILED", started_at: at(-5), finished_at: at(5) } },
  { job: { state: "RETRY_WAIT", started_at: at(-5) }, history: { ...move, started_at: at(1), at: at(0) } },
  { job: { state: "RETRY_WAIT", started_at: at(-5) }, history: { ...move, started_at: at(2), at: at(5) } },
  { job: { state: "RETRY_WAIT", started_at: at(-5) }, history: { ...move, started_at: at(-5), at: at(-1) } },
  { job: { state: "RETRY_WAIT", started_at: at(-5) }, history: { ...move, started_at: at(-5), at: at(1) } },
  {
    job: { state: "RETRY_WAIT", started_at: at(-5) },
    history: { ...move, started_at: at(-5), at: at(5), from_state: "QUEUED" },
  },
  ended(-5, { state: "RUNNING", created_at: at(-6) }),
  ended(-5, { state: "RUNNING", created_at: at(0) }),
  ended(-5, { state: "RUNNING", created_at: at(1) }),
  ended(0, { state: "RUNNING", created_at: at(-6) }),
  ended(-5, { state: "DONE", created_at: at(-6), finished_at: at(0) }),
  ended(-5, { state: "DONE", created_at: at(-6), finished_at: at(-1) }),
  ended(-5, { state: "DONE", created_at: at(-6), finished_at: at(1) }),
  ended(-5, { state: "RUNNING", created_at: at(-6) }, { state: "RUNNING", created_at: at(-6) }),
  { job: { state: "PENDING" } },
];

function ended(ms: number, ...runs: Candidate["runs"] & object): Candidate {
  return { job: { state: "SUCCESS", started_at: at(-10), finished_at: at(ms) }, runs };
}

/** Each alone: far from the others, beside a job that asks, which itself never held it. */
async function holders(world: World): Promise<void> {
  const jobs: Row[] = [];
  const runs: Row[] = [];
  const history: Row[] = [];
  for (const [n, { job = {}, history: moved, runs: started = [] }] of candidates.entries()) {
    const id = 1_000 * (n + 1);
    jobs.push(jobRow(id, { slot_keys: keys, state: "SKIPPED" }), jobRow(id - 1, { slot_keys: keys, ...job }));
    if (moved !== undefined) history.push({ job_id: 1_000 + id - 1, ...moved });
    runs.push(...started.map((run, i) => runRow(2 * id + i, { starter_id: 1_000 + id - 1, ...run })));
  }
  await put(world.pool, "job", jobs);
  await put(world.pool, "run", runs);
  await put(world.pool, "history", history);
  for (const n of candidates.keys()) await hold(world, 1_000 * (n + 1));
}

const running = { state: "RUNNING", started_at: at(-9) };

/** Where it looks: so far back and ahead, for the keys of the prefix only, and at so many times of the schedule. */
async function looks(world: World): Promise<void> {
  const wanting = { slot_keys: keys, state: "SKIPPED" };
  const ofSchedule = (ms: number): Row => ({ ...wanting, schedule_id: "mine", scheduled_for: at(ms) });
  await put(world.pool, "job", [
    jobRow(10, { ...running, slot_keys: keys }),
    jobRow(11, wanting),
    jobRow(20, wanting),
    jobRow(30, { ...running, slot_keys: keys }),
    jobRow(29, { ...running, slot_keys: ["cap:b"] }),
    jobRow(28, { ...running, slot_keys: null }),
    jobRow(40, { ...running, slot_keys: keys }),
    jobRow(500, { state: "RUNNING", started_at: at(-9), slot_keys: keys }),
    jobRow(501, { ...running, slot_keys: ["cap:b"] }),
    jobRow(502, { ...running, slot_keys: keys }),
    jobRow(503, { ...running, slot_keys: keys }),
    jobRow(504, { ...running, slot_keys: keys }),
    jobRow(600, ofSchedule(0)),
    jobRow(650, { ...running, slot_keys: keys, schedule_id: "alone", scheduled_for: at(0) }),
    jobRow(700, { ...running, slot_keys: keys }),
    jobRow(800, { ...running, slot_keys: keys }),
  ]);
  await put(world.pool, "occurrence", [
    occurrenceRow("mine", -3_000, { job_id: 1_500 }),
    occurrenceRow("mine", -2_000, { job_id: 1_501 }),
    occurrenceRow("mine", -1_000, { job_id: null }),
    occurrenceRow("other", -900, { job_id: 1_503 }),
    occurrenceRow("mine", 0, { job_id: 1_600 }),
    occurrenceRow("mine", 0, { local_time: "twice", outcome: "COALESCED", job_id: 1_502 }),
    occurrenceRow("alone", 0, { job_id: 1_650 }),
    occurrenceRow("mine", 1_000, { job_id: 1_504 }),
    occurrenceRow("mine", -10_000, { job_id: 1_700 }),
  ]);
  for (const over of [
    { back: 9, ahead: 9 },
    { back: 10, ahead: 9 },
    { back: 9, ahead: 10 },
    { back: 8, ahead: 8 },
    { prefix: "cap:", back: 9, ahead: 9 },
    { prefix: "none:" },
  ])
    await hold(world, 20, over);
  await hold(world, 11, { back: 1, ahead: 0 });
  await hold(world, 40, { back: 0, ahead: 0 });
  for (const times of [1, 2, 3, 4, 9]) await hold(world, 600, { back: 1, ahead: 1, times });
  await hold(world, 650, { back: 0, ahead: 0, times: 5 });
  await world.pool.query(
    "update belfry.occurrence set nominal_at = nominal_at - interval '1 hour' where job_id = 1502",
  );
  await world.pool.query("delete from noted.change");
  for (const times of [1, 2, 3, 4, 9]) await hold(world, 600, { back: 1, ahead: 1, times });
}
