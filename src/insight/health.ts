import { z } from "zod";
import { insightLimits } from "./insight-limits.ts";
import { count } from "./atoms.ts";
import { type Database, sqlQuery } from "./sql-query.ts";

const ms = z.number().min(0);
const { countedRowsMax, deadRowsMin, longRunMs, resentBatchesReadMax } = insightLimits;

/**
 * Occurrences PLANNED for longer than $1 milliseconds and runs open for longer than $4, $2 of each at most; the largest share of
 * dead rows among tables that have $3 of them; how far the clock stands behind the newest decision, which no clock that only goes
 * forwards does; and the oldest transaction, by the machine's own time: only sessions of the same user show theirs. Locks nothing.
 */
export const readHealth = sqlQuery("health", {
  params: (overdueMs: number) => [overdueMs, countedRowsMax, deadRowsMin, longRunMs],
  row: z.object({
    now: z.number(),
    overdue: count,
    longRuns: count,
    deadRowsPercent: z.number().min(0),
    clockBehindMs: ms,
    /** Vacuum keeps all rows that died since. */
    oldestTransactionMs: ms,
  }),
})(`
select belfry.ms(belfry.now()) as now,
  (select count(*)::int from (
    select from belfry.occurrence
    where outcome = 'PLANNED' and nominal_at < belfry.now() - $1::float8 * interval '1 millisecond'
      and coalesce(effective_at, nominal_at) < belfry.now() - $1::float8 * interval '1 millisecond' limit $2
  ) overdue) as overdue,
  (select count(*)::int from (
    select created_at from belfry.run where state in ('RUNNING', 'CANCELING') order by id limit $2
  ) oldest where created_at < belfry.now() - $4::float8 * interval '1 millisecond') as "longRuns",
  coalesce((
    select max(100.0 * n_dead_tup / (n_live_tup + n_dead_tup)) from pg_stat_user_tables
    where schemaname = 'belfry' and n_dead_tup >= $3::bigint
  ), 0)::float8 as "deadRowsPercent",
  coalesce((select belfry.ms_until(max(decided_at)) from belfry.occurrence where decided_at is not null), 0)::float8 as "clockBehindMs",
  coalesce((
    select max(extract(epoch from clock_timestamp() - xact_start)) * 1000 from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_xmin is not null
  ), 0)::float8 as "oldestTransactionMs"`);

export const trouble = z.object({
  clockBehindMs: ms.describe("How far the database's clock stands behind the newest decision."),
  resent: z
    .array(z.object({ lane: z.string(), messages: count }))
    .describe("By lane: messages that were sent again more than once and are still not confirmed."),
});

export type Trouble = z.infer<typeof trouble>;

export const appSchema = z.object({ app: z.string(), version: count });

/** Of each app with tables of its own, the number of its newest migration. Locks nothing. */
export const readAppSchemas = sqlQuery("app-schemas", { row: appSchema })(
  "select set as app, max(number)::float8 as version from belfry.migration where set <> 'belfry' group by set order by set",
);

/**
 * One row: how far the clock stands behind the newest decision or the last pass, and by lane the messages of open batches that
 * were sent again more than once: of $1 such batches at most. Locks nothing.
 */
export const readTrouble = sqlQuery("trouble", {
  params: () => [resentBatchesReadMax],
  row: trouble,
})(`
select round(greatest(
    (select belfry.ms_until(max(decided_at)) from belfry.occurrence where decided_at is not null),
    (select extract(epoch from max(passed_at) - belfry.clock()) * 1000 from belfry.lock_fence), 0
  ))::float8 as "clockBehindMs",
  coalesce(jsonb_agg(jsonb_build_object('lane', lane, 'messages', messages) order by lane), '[]') as resent
from (
  select lane, sum(cardinality(job_ids)) as messages
  from (select lane, job_ids from belfry.outbox where resent > 1 order by at, id limit $1) resent
  group by lane
) by_lane`);

/** The least that a sort may have, for this transaction. Locks nothing. */
export const keepSortsSmall = sqlQuery("probe-memory", { row: z.unknown() })(
  "select set_config('work_mem', '64kB', true)",
);

/** Sorts more than fits: the server writes some 300 kB of temporary pages, and says so where its disk is full. Locks nothing. */
export const spill = sqlQuery("probe-disk", { row: z.unknown() })(
  "select count(*)::int as n from (select g from generate_series(1, 20000) g order by -g) sorted",
);

/** Lets the server write some temporary pages. Throws as any other call does where its disk is full. */
export const probeDisk = (insight: Database): Promise<void> =>
  insight.transaction(async (tx) => {
    await tx.run(keepSortsSmall, {});
    await tx.run(spill, {});
  });
