/** A database clock that a proof moves, and what the ledger of minutely schedules must say whatever it did. */
import type { Pool } from "pg";
import { createTestClock } from "../../src/postgres/sql/test-clock.ts";
import { type TestClock, testClock } from "../../src/postgres/test-clock.ts";
import type { Checklist, ProofContext } from "./proof.ts";
import { startSystem, type System } from "./system.ts";

/** For `SystemOptions.sql`: from then on the database's now is that of a table. */
export const movedClockSql: string = createTestClock.text;

export const minuteMs = 60_000;

export interface MovedClock extends TestClock {
  now(): Promise<number>;
  /** Moves now forward to a few seconds after the next full minute, so that a short case crosses no other. */
  align(): Promise<void>;
}

export function movedClock(pool: Pool): MovedClock {
  const clock = testClock(pool);
  const now = async (): Promise<number> => {
    const { rows } = await pool.query<{ now: number }>("select belfry.ms(belfry.now()) as now");
    return rows[0]?.now ?? 0;
  };
  return {
    ...clock,
    now,
    align: async () => clock.advance(minuteMs + 3_000 - ((await now()) % minuteMs)),
  };
}

/** The 220 schedules of `app/minutely.ts`, installed a few seconds after a full minute. */
export async function beginMinutely(
  context: ProofContext,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly system: System; readonly clock: MovedClock }> {
  const system = await startSystem(context, {
    app: "minutely",
    sql: movedClockSql,
    lane: () => ({ visibilityTimeoutSeconds: 30, concurrency: 2 }),
    env: { BELFRY_DISPATCH_WINDOW_MS: "1000", BELFRY_LOCK_LEASE_MS: "2000", ...env },
  });
  const clock = movedClock(system.pool);
  await clock.align();
  await system.install();
  return { system, clock };
}

/** Schedules whose times of the last full minute are not decided yet. */
export const undecided = (system: System): Promise<number> =>
  system.count("belfry.schedule where decided_until < date_trunc('minute', belfry.now())");

/** Every full minute between the beginning of a schedule and what is decided has its row; judged with C8. */
export async function expectedMinutes(system: System): Promise<ReadonlyMap<string, readonly number[]>> {
  const rows = await system.rows<{ id: string; after: number; until: number }>(
    `select id, belfry.ms(ledger_from) as after, belfry.ms(decided_until) as until from belfry.schedule`,
  );
  return new Map(rows.map(({ id, after, until }) => [id, minutesBetween(after, until)]));
}

function minutesBetween(after: number, until: number): readonly number[] {
  const first = (Math.floor(after / minuteMs) + 1) * minuteMs;
  return Array.from(
    { length: Math.max(0, Math.floor((until - first) / minuteMs) + 1) },
    (_, n) => first + n * minuteMs,
  );
}

/** Jobs a group of schedules got for missed times in `(after, until]`, by schedule. */
export async function caughtUpJobs(
  system: System,
  group: string,
  window: { readonly after: number; readonly until: number },
): Promise<ReadonlyMap<string, number>> {
  const rows = await system.rows<{ id: string; n: number }>(
    `select s.id, count(j.id)::int as n from belfry.schedule s left join belfry.job j
       on j.schedule_id = s.id and j.catch_up and j.scheduled_for > belfry.at($2) and j.scheduled_for <= belfry.at($3)
     where s.id like $1 || '-%' group by s.id`,
    [group, window.after, window.until],
  );
  return new Map(rows.map(({ id, n }) => [id, n]));
}

/** Caught-up jobs never come closer together than their pace, and none starts before its turn. */
export async function assessPace(list: Checklist, system: System, group: string, paceMs: number): Promise<void> {
  const rows = await system.rows<{ id: string; gap: number | null; early: number | null }>(
    `select j.id::text, belfry.ms(j.due_at) - belfry.ms(lag(j.due_at) over w) as gap,
       belfry.ms(j.due_at) - belfry.ms(a.started_at) as early
     from belfry.job j left join belfry.attempt a on a.job_id = j.id and a.attempt = 1
     where j.schedule_id like $1 || '-%' and j.catch_up
     window w as (partition by j.schedule_id order by j.due_at, j.id)`,
    [group],
  );
  // A round trip through milliseconds may round by one.
  const close = rows.flatMap(({ id, gap }) => (gap !== null && gap < paceMs - 1 ? [`${id} ${gap} ms after`] : []));
  const early = rows.flatMap(({ id, early: ms }) => (ms === null || ms > 1 ? [`${id} by ${ms} ms`] : []));
  list.expect(`${group}: there are caught-up jobs`, rows.length > 0);
  list.expectNone(`${group}: they are due at least the pace apart`, close);
  list.expectNone(`${group}: all ran, none before it was due`, early);
}

/** Caught-up jobs that have not ended. */
export const openCaughtUp = (system: System): Promise<number> =>
  system.count("belfry.job where catch_up and state < 'SUCCESS'");
