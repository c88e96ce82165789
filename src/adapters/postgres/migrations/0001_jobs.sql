-- Jobs, their events and the messages that tell workers of them. Frozen once released: changes are new files.

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

-- Real time also inside a statement: the lock row that stands in for the lock store is judged by it.
create function belfry.clock() returns timestamptz
  language sql volatile
  return clock_timestamp();

-- Instants travel as milliseconds. Floor, so that a time read from the database never lies in its future.
create function belfry.ms(t timestamptz) returns float8
  language sql immutable parallel safe
  return floor(extract(epoch from t) * 1000)::float8;
create function belfry.at(ms float8) returns timestamptz
  language sql immutable parallel safe
  return to_timestamp(ms / 1000);
create function belfry.span(ms float8) returns interval
  language sql immutable parallel safe
  return ms * interval '1 millisecond';
-- Milliseconds until then, 0 when past: a database clock may step back, so nothing here is ever negative.
create function belfry.ms_until(t timestamptz) returns float8
  language sql stable parallel safe
  return greatest(0, floor(extract(epoch from t - belfry.now()) * 1000))::float8;
create function belfry.ms_since(t timestamptz) returns float8
  language sql stable parallel safe
  return greatest(0, floor(extract(epoch from belfry.now() - t) * 1000))::float8;

create table belfry.job (
  id            bigint generated always as identity primary key,
  kind          text not null,
  key           text,
  payload       jsonb not null,
  payload_hash  bytea not null,
  lane          text not null,
  state         belfry.job_state not null,
  hold          belfry.job_hold not null default 'none',
  held_on       text,                                   -- the slot key it waits for
  due_at        timestamptz not null,
  expires_at    timestamptz,
  generation    int not null default 0,                 -- which message may claim it
  attempt       int not null default 0,                 -- which try may finish it; the fence
  failures      int not null default 0,                 -- what counts against max_attempts
  interruptions int not null default 0,
  dead_letters  int not null default 0,
  max_attempts  int not null,
  lease_ms      int not null,
  retention_ms  bigint not null,
  suspect       boolean not null default false,         -- lost its worker in a batch: runs alone next time
  alone         boolean not null default false,         -- the current try runs alone
  slot_keys     text[],
  schedule_id   text,
  scheduled_for timestamptz,
  catch_up      boolean not null default false,
  missed        int not null default 0,
  run_id        bigint,
  preds_open    int not null default 0,
  preds_ok      int not null default 0,
  preds_bad     int not null default 0,
  join_rule     belfry.join_rule not null default 'all',
  blocked       boolean not null default false,
  wide          boolean not null default false,
  spread        boolean not null default false,         -- its end was counted by its successors and its run
  task          text,                                   -- its name inside the graph
  asks          boolean not null default false,         -- a condition is asked before it may be claimed
  asked_row     jsonb,                                  -- what the condition of a fan-out is asked about
  not_taken     boolean not null default false,         -- SKIPPED as its branch was not taken: neither good nor bad
  trace         text not null,
  worker        text,
  started_at    timestamptz,
  lease_until   timestamptz,
  progress      real,
  handed_at     timestamptz,
  finished_at   timestamptz,
  result        jsonb,
  error_code    text,
  error_message text,
  created_at    timestamptz not null,

  constraint job_lease_while_running check ((lease_until is not null) = (state = 'RUNNING')),
  constraint job_worker_while_running check (state <> 'RUNNING' or (worker is not null and started_at is not null)),
  constraint job_finished_when_final check ((finished_at is not null) = (state >= 'SUCCESS')),
  constraint job_counters check (generation >= 0 and attempt >= 0 and failures >= 0 and interruptions >= 0
    and dead_letters >= 0 and preds_open >= 0 and preds_ok >= 0 and preds_bad >= 0),
  constraint job_tries check (failures + interruptions <= attempt),
  constraint job_hold_while_waiting check (hold = 'none' or state in ('PENDING', 'RETRY_WAIT')),
  constraint job_held_on_slot check ((held_on is not null) = (hold = 'slot')),
  constraint job_blocked_while_waiting check (not blocked or state in ('PENDING', 'CANCELED', 'SKIPPED'))
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);

create unique index job_key on belfry.job (kind, key) where key is not null;
-- Leads with the due time and holds only rows that may start: future, held and finished rows cost nothing.
create index job_due on belfry.job (due_at, id)
  where state in ('PENDING', 'RETRY_WAIT') and not blocked and hold = 'none';
create index job_lease on belfry.job (lease_until) where lease_until is not null;
create index job_held on belfry.job (held_on, due_at, id) where hold = 'slot';
-- Leads with the retention: one range a distinct retention, so that long ones never stand in front of short ones.
create index job_finished on belfry.job (retention_ms, finished_at) where finished_at is not null and run_id is null;
-- Messages that are out, by lane: only the search for lost ones reads it.
-- A column that claims do not mention is part of the predicate: without it a planner that knows no statistics claims ten
-- rows by reading every QUEUED one.
create index job_out on belfry.job (lane, handed_at) where state = 'QUEUED' and lease_until is null;
create index job_failed on belfry.job (id) where state = 'FAILED';
create index job_schedule on belfry.job (schedule_id, id) where schedule_id is not null;
create index job_run on belfry.job (run_id, id) where run_id is not null;
create index job_run_open on belfry.job (run_id, id)
  where run_id is not null and state in ('PENDING', 'QUEUED', 'RUNNING', 'RETRY_WAIT');

-- The state machine, enforced by the table whoever asks. Null for a legal move, else what is wrong with it; 'uncounted'
-- for the legal end of a run's job that the statement did not count.
create function belfry.judge_move(was belfry.job_state, becomes belfry.job_state, old_attempt int, new_attempt int,
  old_generation int, new_generation int, run_id bigint, spread boolean) returns text language plpgsql immutable as $$
begin
  if new_generation < old_generation then
    return format('generation may not go down (%s -> %s)', old_generation, new_generation);
  end if;
  if becomes = was then
    if new_attempt <> old_attempt then
      return format('attempt changes only when a claim makes it RUNNING (%s -> %s)', old_attempt, new_attempt);
    end if;
    return null;
  end if;
  if not (case was
    when 'PENDING'    then becomes in ('QUEUED', 'FAILED', 'CANCELED', 'SKIPPED')
    when 'QUEUED'     then becomes in ('RUNNING', 'PENDING', 'FAILED', 'CANCELED', 'SKIPPED')
    when 'RUNNING'    then becomes in ('SUCCESS', 'RETRY_WAIT', 'QUEUED', 'FAILED', 'CANCELED')
    when 'RETRY_WAIT' then becomes in ('QUEUED', 'PENDING', 'FAILED', 'CANCELED', 'SKIPPED')
    when 'SUCCESS'    then false
    else becomes = 'PENDING'
  end) then
    return format('%s -> %s is not a legal transition', was, becomes);
  end if;
  if new_attempt <> old_attempt + (becomes = 'RUNNING')::int then
    return format('entering %s with attempt %s -> %s', becomes, old_attempt, new_attempt);
  end if;
  if becomes = 'QUEUED' and new_generation <= old_generation then
    return format('entering QUEUED needs a new generation (still %s)', old_generation);
  end if;
  return case when run_id is not null and becomes >= 'SUCCESS' and not spread then 'uncounted' end;
end $$;

-- Whoever ends a job of a run without counting its end leaves it here: no successor may wait for ever because one
-- statement forgot about runs. A part of the guard: a second trigger would cost every claim and settle of single jobs.
create function belfry.guard_job() returns trigger language plpgsql as $$
declare
  verdict text := belfry.judge_move(old.state, new.state, old.attempt, new.attempt, old.generation, new.generation,
    new.run_id, new.spread);
begin
  if verdict = 'uncounted' then
    insert into belfry.run_done (run_id, job_id) values (new.run_id, new.id);
    return null;
  end if;
  raise exception 'job %: %', old.id, verdict using errcode = 'check_violation', constraint = 'job_guard';
end $$;

-- AFTER, so that it judges the row as it was written and that legal moves call no trigger: one that runs before the write
-- locks each row again and writes that to the log. The condition is one call, as its text is read anew for each statement.
create trigger job_guard after update of state, attempt, generation on belfry.job
  for each row when (belfry.judge_move(old.state, new.state, old.attempt, new.attempt, old.generation, new.generation,
    new.run_id, new.spread) is not null)
  execute function belfry.guard_job();

-- Append-only and partitioned by day; no foreign key to job, so that writing one never locks a job row.
create table belfry.event (
  id           bigint generated always as identity,
  xid          xid8 not null default pg_current_xact_id(),
  job_id       bigint not null,
  at           timestamptz not null,
  from_state   belfry.job_state,
  to_state     belfry.job_state not null,
  attempt      int not null,
  generation   int not null,
  worker       text,
  reason       text,
  started_at   timestamptz,                            -- when the try began that this event ends
  error_code   text,
  error_message text,
  published_at timestamptz
) partition by range (at);
create table belfry.event_rest partition of belfry.event default;
create index event_job on belfry.event (job_id, id);
create index event_stream on belfry.event (xid, id);

-- A try is what ends with an event out of RUNNING: a table of its own would be one more row, and one more index entry, for
-- each job that a worker finishes.
create view belfry.attempt as
  select job_id, attempt, coalesce(worker, '') as worker, started_at, at as ended_at, to_state as outcome, error_code, error_message
  from belfry.event where from_state = 'RUNNING';

-- A day of events. Attached, not created in place: attaching does not stop inserts into other days.
-- False when rows of that day lie in the default partition already; they stay there.
create function belfry.make_partition(parent text, day text) returns boolean language plpgsql
  set lock_timeout = '500ms' as $$
declare
  from_at timestamptz := to_date(day, 'YYYYMMDD')::timestamp at time zone 'UTC';
begin
  execute format('create table belfry.%I (like belfry.%I including all excluding identity)', parent || '_' || day, parent);
  execute format('alter table belfry.%I attach partition belfry.%I for values from (%L) to (%L)',
    parent, parent || '_' || day, from_at, from_at + interval '24 hours');
  return true;
exception when check_violation then
  return false;
end $$;
create function belfry.drop_partition(parent text, day text) returns void language plpgsql
  set lock_timeout = '500ms' as $$
begin
  execute format('drop table if exists belfry.%I', parent || '_' || day);
end $$;

-- Messages a committed statement decided to send. A confirmed send deletes its row; an open one is sent again.
create table belfry.handoff (
  id   bigint generated always as identity primary key,
  at   timestamptz not null,
  lane text not null,
  ids  bigint[] not null,
  gens int[] not null
);
-- Short-lived rows: compressing a list of 1,000 ids takes longer than writing it.
alter table belfry.handoff alter column ids set storage external, alter column gens set storage external;
create index handoff_open on belfry.handoff (at, id);

-- Bodies no worker could read, kept for a person.
create table belfry.quarantine (
  id   bigint generated always as identity primary key,
  at   timestamptz not null,
  lane text not null,
  body text not null
);

-- For people with SQL: durations never negative, words instead of flags.
create view belfry.job_overview as
  select id, kind, key, state,
    case
      when hold = 'slot' then 'held: ' || held_on
      when hold = 'paused' then 'paused'
      when blocked then 'waiting for predecessors'
      when state = 'RETRY_WAIT' then 'retrying at ' || due_at
      when state in ('PENDING', 'QUEUED') and due_at > belfry.now() then 'scheduled until ' || due_at
      else lower(state::text)
    end as phase,
    lane, failures, max_attempts, attempt, error_code, error_message, due_at, started_at, finished_at,
    greatest(interval '0', coalesce(finished_at, belfry.now()) - started_at) as ran_for
  from belfry.job;
