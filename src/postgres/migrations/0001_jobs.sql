-- Jobs and the guard of their states. Frozen once released: changes are new files.

create schema if not exists belfry;

create type belfry.job_state as enum
  ('PENDING', 'QUEUED', 'RUNNING', 'RETRY_WAIT', 'SUCCESS', 'FAILED', 'CANCELED', 'SKIPPED');
create type belfry.job_hold as enum ('none', 'paused', 'slot');
create type belfry.join_rule as enum ('all', 'any', 'allDone');

-- The only clock of every decision. Stable and inlined, so that `due_at <= belfry.now()` stays an index condition;
-- statement_timestamp(), because a transaction may have waited for a lock. A test database replaces the body.
create function belfry.now() returns timestamptz
  language sql stable parallel safe
  return statement_timestamp();

-- Real time also inside a statement: the fallback lock is judged by it.
create function belfry.clock() returns timestamptz language sql volatile return clock_timestamp();
-- How long this statement has run, or waited for a lock: a lease begins when it is given.
create function belfry.waited() returns interval language sql volatile return clock_timestamp() - statement_timestamp();

-- Instants travel as milliseconds. Down, so that a time read from the database never lies in its future. Stable as what it calls: an immutable
-- one would not become a part of the statement, and a call costs six times as much. Whole milliseconds are exact as a float.
create function belfry.ms(t timestamptz) returns float8
  language sql stable parallel safe
  return round(date_part('epoch', date_trunc('milliseconds', t)) * 1000);
create function belfry.at(ms float8) returns timestamptz
  language sql immutable parallel safe
  return to_timestamp(ms / 1000);
create function belfry.span(ms float8) returns interval
  language sql immutable parallel safe
  return ms * interval '1 millisecond';
-- Milliseconds until then, 0 when past: a database clock may step back, so nothing here is ever negative.
create function belfry.ms_until(t timestamptz) returns float8
  language sql stable parallel safe
  return greatest(0, round(date_part('epoch', date_trunc('milliseconds', t - belfry.now())) * 1000));
create function belfry.ms_since(t timestamptz) returns float8
  language sql stable parallel safe
  return greatest(0, round(date_part('epoch', date_trunc('milliseconds', belfry.now() - t)) * 1000));

-- Stands for kind and key in their index: random keys fill a third of the pages so. Of two that share a hash the second is an error.
create function belfry.key_hash(kind text, key text) returns bigint language sql immutable parallel safe
  return hashtextextended(kind || chr(31) || key, 0);
-- What a row of `job` is, whatever it was. Of what it is not, the rule that it breaks is named, as a check of its own would. One function, for Postgres reads
-- the text of each check again for each statement: fifteen were a quarter of the instructions of a claim of ten.
create function belfry.judge_row(state belfry.job_state, lease_id bigint, finished_at timestamptz, dispatched_at timestamptz, worker text,
  started_at timestamptz, hold belfry.job_hold, held_on text, blocked boolean, error_code text, generation int, attempt int, failures int,
  interruptions int, joined int, due_at_most timestamptz) returns boolean language plpgsql immutable parallel safe as $$
declare
  broken text;
begin
  -- Waiting for a worker, in its hands, or done: one condition, as each costs as much as the call.
  if dispatched_at is not null and hold = 'none' and held_on = '' and not blocked and joined is null and due_at_most is null
    and least(generation, failures, interruptions) >= 0 and failures + interruptions <= attempt
    and (lease_id is not null) = (state = 'RUNNING') and (finished_at is not null) = (state = 'SUCCESS')
    and (state = 'QUEUED' or state = 'SUCCESS' or state = 'RUNNING' and worker is not null and started_at is not null) then return true;
  end if;
  broken := case
    when (lease_id is not null) <> (state = 'RUNNING') then 'job_lease_while_running'
    when state = 'RUNNING' and num_nulls(worker, started_at) > 0 then 'job_worker_while_running'
    when (finished_at is not null) <> (state >= 'SUCCESS') then 'job_finished_when_final'
    -- Lets an index separate waiting from dispatched rows without naming the state, which every claim changes.
    when state < 'SUCCESS' and (dispatched_at is null) <> (state in ('PENDING', 'RETRY_WAIT')) then 'job_dispatched_when_out'
    when hold <> 'none' and state not in ('PENDING', 'RETRY_WAIT') then 'job_hold_while_waiting'
    when (held_on <> '') <> (hold <> 'none') then 'job_held_on'
    when blocked and state not in ('PENDING', 'CANCELED', 'SKIPPED') then 'job_blocked_while_waiting'
    when state = 'FAILED' and error_code is null then 'job_failed_has_code'
    when least(generation, attempt, failures, interruptions) < 0 then 'job_counters'
    when failures + interruptions > attempt then 'job_attempts'
    when (joined is null) <> (due_at_most is null) then 'job_debounce'
    when joined < 0 then 'job_joined'
  end;
  if broken is null then return true; end if;
  raise exception 'a % job may not be so: %', state, broken using errcode = 'check_violation', constraint = broken, table = 'job';
end $$;
-- Of one column each: Postgres judges them where the column is written, and not with every move.
create domain belfry.job_count as int constraint job_counters check (value >= 0);
create domain belfry.job_wait_ms as bigint check (value >= 0);
create domain belfry.job_turn_weight as real check (value > 0);
create domain belfry.job_join_least as int check (value > 1);

-- What moves change stands together, as the log holds all between the first and the last byte that an update changes. Before it
-- stands what is never null, which is found without a look at what precedes it; behind it the texts and what few jobs have.
create table belfry.job (
  id            bigint generated always as identity primary key,
  created_at    timestamptz not null,
  retention_ms  bigint not null,
  due_at        timestamptz not null,
  max_attempts  int not null,
  lease_ms      int not null,
  missed        int not null default 0,
  dead_letters  belfry.job_count not null default 0,
  join_rule     belfry.join_rule not null default 'all',
  catch_up      boolean not null default false,
  blocked       boolean not null default false,
  wide          boolean not null default false,
  has_condition boolean not null default false,         -- a condition is asked before it may be claimed
  not_taken     boolean not null default false,         -- SKIPPED as its branch was not taken: neither good nor bad
  awaits_signal boolean not null default false,         -- its payload is the signal's; one whose signal has come is due at once
  end_counted   boolean not null default false,         -- its end was counted by its successors and its run
  solo_required boolean not null default false,         -- lost its worker in a batch: runs alone next time
  hold          belfry.job_hold not null default 'none',
  preds_open    belfry.job_count not null default 0,
  preds_ok      belfry.job_count not null default 0,
  preds_bad     belfry.job_count not null default 0,
  failures      int not null default 0,                 -- what counts against max_attempts
  interruptions int not null default 0,
  generation    int not null default 0,                 -- which message may claim it
  attempt       int not null default 0,                 -- which attempt may finish it; the fence
  state         belfry.job_state not null,
  event_id      bigint not null,                        -- the event that recorded its newest move; only rises
  dispatched_at timestamptz,                            -- a message is out since; null while it waits
  started_at    timestamptz,
  lease_id      bigint,                                 -- while RUNNING
  finished_at   timestamptz,
  progress      real,
  worker        text,                                   -- of the newest attempt, also after its end
  result        jsonb,
  error_code    text,
  error_message text,
  held_on       text not null default '',               -- '' when free, else a slot key, or 'lane:' and the closed lane or kind
  lane          text not null,
  kind          text not null,
  key           text,
  trace         text not null,
  payload       jsonb not null,
  expires_at    timestamptz,
  slot_keys     text[],
  schedule_id   text,
  scheduled_for timestamptz,
  run_id        bigint,
  task          text,                                   -- its name inside the graph
  condition_row jsonb,                                  -- what the condition of a fan-out is asked about
  wait_ms       belfry.job_wait_ms,                     -- a task of a graph is due so long after its predecessors released it
  signaled_at   timestamptz,
  signaled_by   text,
  turn          text,                                   -- waits on hold for it: 'turn:LANE#LEVEL#KEY', level -1 high, 0 normal, 1 low
  turn_weight   belfry.job_turn_weight,
  join_least    belfry.job_join_least,                  -- how many predecessors must succeed under the rule 'any'; null: one
  effective_at  timestamptz,                            -- when a spread time is due; null: at scheduled_for
  joined        int,                                    -- debounced calls behind the first; null: its kind is not debounced
  due_at_most   timestamptz,                            -- of a debounced job
  batch_key     text,                                   -- which jobs of its kind it may be started with; null: its kind has no batches
  batch_of      bigint,                                 -- the first job of the call of its newest attempt; null: it runs by itself
  constraint job_row check (belfry.judge_row(state, lease_id, finished_at, dispatched_at, worker, started_at, hold, held_on, blocked, error_code,
    generation, attempt, failures, interruptions, joined, due_at_most))
) with (fillfactor = 45, autovacuum_vacuum_scale_factor = 0.02);

-- No index and no predicate names a column that a claim changes (state, event_id, attempt, worker, started_at, lease_id,
-- progress), so that a claim writes no index entry. The statements that read each index stand behind it.
-- insert, find-keys, search-key
create unique index job_key on belfry.job (belfry.key_hash(kind, key)) where key is not null;
-- relay, wake, held-keys, lane-unhold, live, slots, waiting, search-due. Held rows are sorted behind their key: they cost the relay nothing.
create index job_wait on belfry.job (held_on, due_at, id)
  where dispatched_at is null and finished_at is null and not blocked;
-- requeue-empty, requeue-overtaken, requeue-not-yet-due, live, waiting. Holds RUNNING rows too: no more than run at once.
create index job_out on belfry.job (lane, dispatched_at) where dispatched_at is not null and finished_at is null;
-- prune-jobs. Leads with the retention: one range a distinct retention, so that long ones never stand in front of short ones.
create index job_finished on belfry.job (retention_ms, finished_at) where finished_at is not null and run_id is null;
-- night, by schedule: few among all that ended.
create index job_scheduled on belfry.job (retention_ms, finished_at) where finished_at is not null and run_id is null and schedule_id is not null;
-- Searches, counts and bulk pages of what has not ended, by id: without it each would walk over all that has.
create index job_live on belfry.job (id) where finished_at is null;
-- failure-groups, searches of FAILED: they filter by state.
create index job_failed on belfry.job (id) include (schedule_id) where finished_at is not null and error_code is not null;
-- run-jobs, run-open-jobs, run-canceling, resolve-look, resolve-stop, resume, prune-runs, run, runs: what is open (0) stands before what has ended (1).
-- As a number: `finished_at is null` beside a run would also fit job_live, and a planner that knows no statistics takes that.
create index job_run on belfry.job (run_id, ((finished_at is not null)::int), id) where run_id is not null;

-- batch-gather, batch-full. What runs stands in it too, as no claim may write an index.
create index job_batch on belfry.job (kind, batch_key, due_at, id) where batch_key is not null and finished_at is null;

-- The jobs of one claim: one worker, lane and lease length. A heartbeat renews it alone. Its last settle ends it, else rescue.
create table belfry.lease (
  id      bigint generated always as identity primary key,
  worker  text not null,
  lane    text not null,
  ms      int not null,
  until   timestamptz not null,
  solo    boolean not null default false,               -- its one job runs alone, so it is to blame when the worker dies
  job_ids bigint[] not null,
  cause   text                                          -- why its worker is dead or stands still, if that was seen
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
alter table belfry.lease alter column job_ids set storage external;
create index lease_until on belfry.lease (until);
-- lease-end
create index lease_worker on belfry.lease (worker text_pattern_ops);
-- The state machine, enforced by the table for every statement. Null for a legal move, else what is wrong with it;
-- 'uncounted' for the legal end of a run's job that the statement did not count.
create function belfry.judge_move(was belfry.job_state, becomes belfry.job_state, old_attempt int, new_attempt int,
  old_generation int, new_generation int, old_event bigint, new_event bigint, run_id bigint, end_counted boolean)
  returns text language plpgsql immutable as $$
begin
  -- A claim, or a success that is counted: one condition, as each costs as much as the call.
  if new_generation = old_generation and new_event > old_event and (was = 'QUEUED' and becomes = 'RUNNING' and new_attempt = old_attempt + 1
    or was = 'RUNNING' and becomes = 'SUCCESS' and new_attempt = old_attempt and (run_id is null or end_counted)) then return null;
  end if;
  if new_generation < old_generation then
    return format('generation may not go down (%s -> %s)', old_generation, new_generation);
  end if;
  if becomes = was then
    if new_attempt <> old_attempt then
      return format('attempt changes only when a claim makes it RUNNING (%s -> %s)', old_attempt, new_attempt);
    end if;
    if new_event <> old_event then
      return format('event_id changes only with the state (%s -> %s)', old_event, new_event);
    end if;
    return null;
  end if;
  if not (case was
    when 'PENDING'    then becomes in ('QUEUED', 'CANCELED', 'SKIPPED')
    when 'QUEUED'     then becomes in ('RUNNING', 'PENDING', 'FAILED', 'CANCELED', 'SKIPPED')
    when 'RUNNING'    then becomes in ('SUCCESS', 'RETRY_WAIT', 'QUEUED', 'FAILED', 'CANCELED')
    when 'RETRY_WAIT' then becomes in ('QUEUED', 'CANCELED', 'SKIPPED')
    when 'SUCCESS'    then false
    else becomes in ('PENDING', 'QUEUED')
  end) then
    return format('%s -> %s is not a legal transition', was, becomes);
  end if;
  if new_attempt <> old_attempt + (becomes = 'RUNNING')::int then
    return format('entering %s with attempt %s -> %s', becomes, old_attempt, new_attempt);
  end if;
  if becomes = 'QUEUED' and new_generation <= old_generation then
    return format('entering QUEUED needs a new generation (still %s)', old_generation);
  end if;
  if new_event <= old_event then
    return format('%s -> %s names no new event (%s -> %s)', was, becomes, old_event, new_event);
  end if;
  return case when run_id is not null and becomes >= 'SUCCESS' and not end_counted then 'uncounted' end;
end $$;

-- An end of a run's job that its statement did not count is listed here, so that no successor waits for ever because one
-- statement forgot about runs. A part of the guard: a second trigger would cost every claim and settle of single jobs.
create function belfry.guard_job() returns trigger language plpgsql as $$
declare
  verdict text := belfry.judge_move(old.state, new.state, old.attempt, new.attempt, old.generation, new.generation,
    old.event_id, new.event_id, new.run_id, new.end_counted);
begin
  if verdict = 'uncounted' then
    insert into belfry.run_done (run_id, job_id) values (new.run_id, new.id);
    return null;
  end if;
  raise exception 'job %: %', old.id, verdict using errcode = 'check_violation', constraint = 'job_guard';
end $$;

-- AFTER, so that it judges the row as it was written and that legal moves call no trigger: one that runs before the write
-- locks each row again and writes that to the log. The condition is one call, as its text is read again for each statement.
create trigger job_guard after update of state, attempt, generation, event_id on belfry.job
  for each row when (belfry.judge_move(old.state, new.state, old.attempt, new.attempt, old.generation, new.generation,
    old.event_id, new.event_id, new.run_id, new.end_counted) is not null)
  execute function belfry.guard_job();

-- A payload changes while a debounced job or a task behind others was never started, or by the signal that a task waits for; never
-- under a handler.
create function belfry.refuse_payload() returns trigger language plpgsql as $$
begin
  raise exception 'job %: its payload may not change: it is % and was started % times', old.id, old.state, old.attempt
    using errcode = 'check_violation', constraint = 'job_payload';
end $$;
create trigger job_payload after update of payload on belfry.job for each row
  when (new.payload is distinct from old.payload and not new.awaits_signal
    and (new.due_at_most is null or old.attempt > 0 or old.state not in ('PENDING', 'QUEUED'))
    and (old.run_id is null or old.attempt > 0 or old.state <> 'PENDING' or not old.blocked))
  execute function belfry.refuse_payload();
