import { pruneOccurrences } from "../../../../src/adapters/postgres/sql/prune.ts";
import { minute } from "../../../contract/store/fixture.ts";
import { jobRow, occurrenceRow, scheduleRow, whileHeld } from "../rows.ts";
import { send, at, put, type Row } from "../stage.ts";
import type { Tour, World } from "../tour.ts";

/** Occurrences past their retention, beside schedules that another transaction has locked. */
export const pruneLedger: Tour = { name: "prune-ledger", parts: [ledger] };

const retention = 10 * minute;
const zones = ["UTC", "Asia/Seoul"];
const schedules = ["busy", "mine", "other", "whole"];

/** Of each schedule at other times, so that none is taken for another's; of one at the bound itself. */
const versions: readonly Row[] = [...schedules, "gone"].flatMap((schedule_id, s) =>
  [-60 * minute, -30 * minute, -retention - 5_000, -retention - 3_999, -retention, -retention + 1].map((ms, n) => ({
    schedule_id,
    version: n + 1,
    spec: {},
    from_at: at(s === 1 ? ms : ms + 1_000 * s),
  })),
);

interface Time {
  readonly id: number;
  readonly schedule: string;
  readonly nominal: number;
  readonly decided: number;
  readonly job: string;
}

/** Times and decisions to each side of the retention; with a job that is open, ended, gone or never was. */
function times(): readonly Time[] {
  const all = [-retention - 5_000, -retention - 4_000, -retention - 1, -retention, -retention + 1];
  const cases = schedules.flatMap((schedule) =>
    all.flatMap((nominal) =>
      all.slice(2).flatMap((decided) =>
        (schedule === "mine" ? ["PENDING", "SUCCESS", "gone", "none"] : ["none"]).map((job) => ({
          schedule,
          nominal,
          decided,
          job,
        })),
      ),
    ),
  );
  return cases.map((one, n) => ({ ...one, id: cases.length - n }));
}

const keyOf = (n: number): Row => ({
  local_time: `t-${n % 40}`,
  fold: Math.floor(n / 40) % 2,
  timezone: zones[Math.floor(n / 80) % 2],
});

/** The same keys, not past, of another schedule and of another zone. */
const beside = ({ id, schedule }: Time, n: number): Row[] => [
  occurrenceRow("beside", -id, { ...keyOf(n), outcome: "COALESCED" }),
  occurrenceRow(schedule, -id, { ...keyOf(n), outcome: "COALESCED", timezone: "Europe/Paris" }),
];

async function stage({ pool }: World): Promise<void> {
  const rows = times();
  await put(
    pool,
    "schedule",
    schedules.map((id, n) => scheduleRow(id, { ledger_from: n === 2 ? at(-minute) : at(-60 * minute) })),
  );
  await put(pool, "schedule_version", versions);
  await put(
    pool,
    "job",
    rows.flatMap(({ id, job }) => (job === "PENDING" || job === "SUCCESS" ? [jobRow(id, { state: job })] : [])),
  );
  await put(
    pool,
    "occurrence",
    rows.map(({ id, schedule, nominal, decided, job }, n) =>
      occurrenceRow(schedule, nominal, {
        ...keyOf(n),
        outcome: "COALESCED",
        decided_at: at(decided),
        job_id: job === "none" ? null : 1_000 + id,
      }),
    ),
  );
  await put(pool, "occurrence", [
    occurrenceRow("gone", -60 * minute),
    occurrenceRow("busy", -90 * minute),
    occurrenceRow("mine", -60 * minute, { outcome: "PLANNED" }),
    ...rows.flatMap(beside),
  ]);
}

async function ledger(world: World): Promise<void> {
  await stage(world);
  const others = "select from belfry.schedule where id in ('busy', 'other') for no key update";
  await whileHeld(world, others, async () => {
    for (const limit of [1, 5, 100]) await send(world, pruneOccurrences, [retention, limit]);
  });
  for (const limit of [3, 100]) await send(world, pruneOccurrences, [retention, limit]);
}
