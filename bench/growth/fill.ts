import type { Pool } from "pg";
import { defineJob } from "../../src/define/define-job.ts";
import { defineSchedule } from "../../src/define/define-schedule.ts";

/**
 * What is kept, so many rows of it for one unit. What a statement reads up to a bound is more than that bound at N already: the
 * bound is its cost, and everything above it is growth.
 */
export const units = { few: 10_000, many: 100_000 };

/** Days of events and history that are kept. */
const keptDays = 14;

const template = `'{"to": "ada"}'::jsonb`;
const keptJob = defineJob({ id: "kept-1", run: () => {} });
const nightly = defineSchedule({ id: "kept", cron: "0 3 * * *", timezone: "Asia/Seoul", run: keptJob });
const spec = JSON.stringify(nightly.spec("bench", "kept"));

const finished = `insert into belfry.job (kind, key, payload, lane, state, event_id, due_at, generation, attempt, max_attempts,
    lease_ms, retention_ms, trace, worker, started_at, finished_at, created_at, error_code, error_message, schedule_id, scheduled_for)
  select 'kept-' || n % 20, 'key-' || n, ${template}, case when n % 7 = 0 then 'mail' else 'default' end,
    case when n % 11 = 0 then 'FAILED' when n % 110 = 1 then 'CANCELED' else 'SUCCESS' end::belfry.job_state, 0, t.at, 1, 1, 4, 20000,
    case when n % 3 = 0 then 1209600000 else 2592000000 end, 't', 'w-' || n % 50, t.at, t.at, t.at,
    case when n % 11 = 0 then 'E' || n % 9 end, case when n % 11 = 0 then 'failed for user ' || n end,
    case when n > $1 * 4 and n % 100 = 0 then 'kept-' || (n - $1 * 4) / 100 when n % 11 > 0 then 'kept-' || 1 + n % ($1 / 10) end,
    case when n % 100 = 0 or n % 11 > 0 then t.at end
  from generate_series(1, $1 * 14) n
  cross join lateral (select belfry.now() - (($1 * 14 - n)::float8 / ($1 * 14)) * interval '13 days' as at) t`;

const live = (state: string, more: { count: string; columns: string; values: string }): string =>
  `insert into belfry.job (kind, payload, lane, state, event_id, generation, max_attempts, lease_ms, retention_ms, trace,
    created_at, ${more.columns})
  select 'kept-' || n % 20, ${template}, case when n % 7 = 0 then 'mail' else 'default' end, '${state}', 0, 1, 4, 20000, 2592000000, 't',
    belfry.now(), ${more.values}
  from generate_series($2 ${more.count} + 1, $3 ${more.count}) n`;

/** Of all parts the same: by the time of each, messages of many parts would mix, and the next ones before a job lie on as many pages. */
const sentAt = "pg_postmaster_start_time() - n * interval '1 millisecond'";

/**
 * Each thing that stays, with what a year of work looks like: most of it finished, little of it live. A text writes what `$1` units keep.
 */
const kept: Readonly<Record<string, string>> = {
  "finished jobs: SUCCESS, FAILED, CANCELED": finished,
  events: `insert into belfry.event (id, xid, at, from_state, to_state, worker, job_ids, attempts, generations, started_at)
    select belfry.next_event(), (3 + n * 400::bigint / $1)::text::xid8, belfry.now() - ($1 - n)::float8 / $1 * interval '${keptDays} days',
      'RUNNING', 'SUCCESS', 'w', array[n, n + 1], array[1, 1], array[1, 1], array[belfry.now(), belfry.now()]
    from generate_series(1, $1) n`,
  history: `insert into belfry.history (job_id, at, from_state, to_state, attempt, generation, worker, started_at, error_code)
    select n * 11, belfry.now() - ($1 - n)::float8 / $1 * interval '13 days', 'RUNNING', 'FAILED', 1, 1, 'w', belfry.now(), 'E1'
    from generate_series(1, $1) n`,
  "outbox batches that are open": `insert into belfry.outbox (at, lane, job_ids, generations)
    select belfry.now() + interval '2 days', 'default', array[n], array[1] from generate_series(1, $1 / 10) n`,
  slots: `with groups as (
      insert into belfry.slot_group (key, size, on_refusal, reason)
      select 'cap:kept-' || n, 5, 'hold', 'slot' from generate_series(1, $1 / 25) n returning key, size
    ) insert into belfry.slot (key, n, job_id, attempt)
    select key, n, row_number() over (), 1 from groups cross join lateral generate_series(1, size) n`,
  "schedules and their versions": `with made as (
      insert into belfry.schedule (id, app, version, source, spec, enabled, decided_until, next_at, ledger_from, created_at, updated_at)
      select 'kept-' || n, 'kept', 2, 'api', '${spec}'::jsonb || jsonb_build_object('id', 'kept-' || n), true, belfry.now(),
        belfry.now() + interval '2 days' + n * interval '1 second', belfry.now() - interval '31 days', belfry.now(), belfry.now()
      from generate_series(1, $1 / 10) n returning id, spec
    ) insert into belfry.schedule_version (schedule_id, version, spec, from_at)
    select id, v, spec, belfry.now() - (3 - v) * interval '14 days' from made cross join generate_series(1, 2) v`,
  occurrences: `insert into belfry.occurrence (schedule_id, local_time, fold, timezone, nominal_at, outcome, reason, schedule_version, job_id,
      planned_at, decided_at, lateness_ms)
    select 'kept-' || n, to_char(t.at at time zone 'UTC', 'YYYY-MM-DD HH24:MI'), 0, 'Asia/Seoul', t.at, 'FIRED', null, 2,
      case when d = 1 then $1 * 4 + n * 100 when d <= 8 then $1 * 20 + n * 40 + d end, t.at, t.at, 40
    from generate_series(1, $1 / 10) n cross join generate_series(1, 60) d
    cross join lateral (select date_trunc('minute', belfry.now()) - d * interval '1 day' as at) t`,
  "runs that ended, with their tasks and edges": `with runs as (
      insert into belfry.run (kind, key, version, state, sealed, total, done, ok, retention_ms, created_at, finished_at)
      select 'kept', 'run-' || n, 1, case when n % 20 = 0 then 'FAILED' else 'DONE' end::belfry.run_state, true, 2, 2, 2,
        case when n % 3 = 0 then 1209600000 else 2592000000 end,
        belfry.now() - interval '1 day', belfry.now() - n::float8 / $1 * interval '13 days'
      from generate_series(1, $1 / 6) n returning id, finished_at, state
    ), tasks as (
      insert into belfry.job (kind, payload, lane, state, event_id, due_at, generation, attempt, max_attempts, lease_ms,
        retention_ms, trace, worker, started_at, finished_at, created_at, run_id, task, end_counted, error_code)
      select 'kept-task', 'null', 'default', case when state = 'FAILED' and n = 2 then 'FAILED' else 'SUCCESS' end::belfry.job_state,
        0, finished_at, 1, 1, 4, 20000, 2592000000, 't', 'w', finished_at,
        finished_at, finished_at, id, 't' || n, true, case when state = 'FAILED' and n = 2 then 'E1' end
      from runs cross join generate_series(1, 2) n returning id, run_id
    ) insert into belfry.edge (from_id, to_id, run_id) select min(id), max(id), run_id from tasks group by run_id`,
  audit: `insert into belfry.audit (at, caller, action, target, status, detail, trace)
    select belfry.now() - interval '1 day', 'ada', 'POST /jobs', '/jobs/' || n, 200, '{}', 't' from generate_series(1, $1 * 3) n`,
  "bulk actions that ended": `insert into belfry.bulk (action, filter, caller, state, newest, next, matched, is_more, due_at, created_at, updated_at, finished_at)
    select 'retry', '{}', 'ada', 'DONE', 1, 0, 1, false, t.at, t.at, t.at, t.at
    from generate_series(1, $1 / 20) n cross join lateral (select belfry.now() - interval '2 days' as at) t`,
  "workers that are gone": `insert into belfry.worker (id, lane, version, started_at, seen_at, ended)
    select 'w-' || n, 'default', '1', t.at, t.at, 10
    from generate_series(1, $1 / 10) n cross join lateral (select belfry.now() - n::float8 / $1 * interval '100 days' - interval '1 day' as at) t`,
  "counts by the minute": `insert into belfry.minute (at, kind, lane, created, started, succeeded)
    select date_trunc('minute', belfry.now()) - n * interval '1 minute', 'kept-1', 'default', 1, 1, 1 from generate_series(1, $1 / 4) n`,
  "counts by the hour": `insert into belfry.hour (at, kind, lane, bucket, waited, ran)
    select date_trunc('hour', belfry.now(), 'UTC') - n / 12 * interval '1 hour', 'kept-1', 'default', n % 12, 1, 1
    from generate_series(1, $1 / 4) n`,
  quarantine: `insert into belfry.quarantine (at, lane, body) select belfry.now(), 'default', 'not json' from generate_series(1, $1 / 10) n`,
};

/**
 * What is live, from unit `$2` to unit `$3`. It arrives mixed: written thing by thing, a search by id would meet all of one before the
 * first of the next.
 */
const keptLive: Readonly<Record<string, string>> = {
  "PENDING jobs, due later": live("PENDING", {
    count: "* 1",
    columns: "due_at",
    values: "belfry.now() + interval '2 days' + n * interval '1 second'",
  }),
  "held jobs": live("PENDING", {
    count: "/ 10",
    columns: "due_at, hold, held_on, slot_keys",
    values:
      "belfry.now() - interval '1 minute', 'slot', 'cap:kept-' || 1 + n % ($1 / 25), array['cap:kept-' || 1 + n % ($1 / 25)]",
  }),
  "QUEUED jobs": live("QUEUED", {
    count: "* 1",
    columns: "due_at, dispatched_at",
    values: `${sentAt}, ${sentAt}`,
  }),
  "RETRY_WAIT jobs": live("RETRY_WAIT", {
    count: "/ 20",
    columns: "due_at, attempt, failures, error_code",
    values: "belfry.now() + interval '2 days' + n * interval '1 second', 1, 1, 'E1'",
  }),
  "RUNNING jobs and their leases": `with jobs as (${live("RUNNING", {
    count: "/ 4",
    columns: "due_at, attempt, worker, started_at, dispatched_at, lease_id",
    values: "belfry.now(), 1, 'w-' || n % 50, belfry.now(), belfry.now(), 1000000 + n",
  })} returning id, lease_id, worker)
    insert into belfry.lease (id, worker, lane, ms, until, job_ids) overriding system value
    select lease_id, min(worker), 'default', 20000, belfry.now() + interval '2 days', array_agg(id) from jobs group by lease_id`,
  "open runs, with tasks that wait": `with runs as (
      insert into belfry.run (kind, key, version, state, sealed, total, created_at)
      select 'kept', 'open-' || n, 1, 'RUNNING', true, 2, belfry.now() from generate_series($2 / 8 + 1, $3 / 8) n returning id
    ), tasks as (
      insert into belfry.job (kind, payload, lane, state, event_id, due_at, generation, max_attempts, lease_ms,
        retention_ms, trace, created_at, run_id, task, preds_open, blocked, awaits_signal)
      select 'kept-task', 'null', 'default', 'PENDING', 0, belfry.now() + interval '2 days', 0, 4, 20000, 2592000000, 't',
        belfry.now(), id, 't' || n, n - 1, n = 2, n = 1
      from runs cross join generate_series(1, 2) n returning id, run_id
    ) insert into belfry.edge (from_id, to_id, run_id) select min(id), max(id), run_id from tasks group by run_id`,
};

/** Writes what so many units keep of one thing, or its part of these units. */
export async function write(pool: Pool, thing: string, count: number, part = { from: 0, to: count }): Promise<void> {
  const text = kept[thing] ?? keptLive[thing];
  if (text === undefined) throw new Error(`nothing that is kept is called "${thing}"`);
  const values = [count, part.from, part.to];
  await pool.query(text.replace(/\$([123])/g, (_, place: string) => `${values[Number(place) - 1]}::int`));
}

const pastDay = "20000102";
const pastAt = (n: string): string =>
  `to_timestamp('${pastDay}', 'YYYYMMDD') + interval '12 hours' + ${n} * interval '1 microsecond'`;

/** So many events and histories of a day past its retention, which only an archive reads: each prune without one drops it. */
export async function writePastDay(pool: Pool, count: number): Promise<void> {
  await pool.query(`
    select belfry.drop_partition(p, '${pastDay}'), belfry.make_partition(p, '${pastDay}') from unnest(array['event', 'history']) p;
    insert into belfry.event (id, xid, at, from_state, to_state, worker, job_ids, attempts, generations, started_at)
    select n, '3', ${pastAt("n")}, 'RUNNING', 'SUCCESS', 'w', array[n], array[1], array[1], array[belfry.now()]
    from generate_series(1, ${count}::int) n;
    insert into belfry.history (job_id, at, from_state, to_state, attempt, generation, worker, started_at, error_code)
    select n * 11, ${pastAt("n")}, 'RUNNING', 'FAILED', 1, 1, 'w', belfry.now(), 'E1' from generate_series(1, ${count}::int) n;
    analyze belfry.event_${pastDay}, belfry.history_${pastDay}`);
}

/** Of live jobs, the units of each thing that arrive before those of the next. */
const partUnits = 1_000;

/** Fills an empty database, and leaves it vacuumed. */
export async function fill(pool: Pool, count: number): Promise<void> {
  await pool.query(
    `select belfry.make_partition(p, to_char(belfry.now() at time zone 'UTC' - d * interval '1 day', 'YYYYMMDD'))
     from unnest(array['event', 'history']) p cross join generate_series(1, ${keptDays}) d`,
  );
  // It would come between two parts or rounds of the larger one alone, and a look of its own keeps old versions of rows in each index.
  await pool.query("alter system set autovacuum = off");
  await pool.query("select pg_reload_conf()");
  for (const thing of Object.keys(kept)) await write(pool, thing, count);
  for (let from = 0; from < count; from += partUnits) {
    const part = { from, to: Math.min(count, from + partUnits) };
    for (const thing of Object.keys(keptLive)) await write(pool, thing, count, part);
  }
  await pool.query(
    `insert into belfry.reader (name, upto) values ('roll-up', pg_snapshot_xmin(pg_current_snapshot())::text)
     on conflict (name) do update set upto = excluded.upto`,
  );
  await pool.query("vacuum (analyze)");
  // A row of the tour that moves finds room on its own page: whether another one had some was chance. So what the tour writes lies on more pages, at both sizes.
  for (const table of ["job", "run"]) await pool.query(`alter table belfry.${table} set (fillfactor = 10)`);
}
