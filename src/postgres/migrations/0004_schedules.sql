-- Schedules, and one row for each of their nominal times.

create type belfry.occurrence_outcome as enum ('PLANNED', 'FIRED', 'CAUGHT_UP', 'COALESCED', 'SKIPPED');

create table belfry.schedule (
  id            text primary key,
  app           text not null,
  version       int not null,
  source        text not null check (source in ('code', 'api')),
  spec          jsonb not null,
  enabled       boolean not null,
  paused_until  timestamptz,                            -- its times are SKIPPED before it; 'infinity': until it is resumed
  paused_at     timestamptz,
  paused_by     text,
  pause_reason  text,
  decided_until timestamptz not null,
  next_at       timestamptz,                            -- when a tick must look at it next
  carry         jsonb,                                  -- what one tick leaves for the next: missed times, pace
  ledger_from   timestamptz not null,
  removed_at    timestamptz,                            -- deleted; the row goes when the times before that are decided
  canceled_below int,                                   -- jobs of versions below it that wait are canceled, page by page
  created_at    timestamptz not null,
  updated_at    timestamptz not null
);
-- schedules-changed: those of code, by their app.
create index schedule_code on belfry.schedule (app) where source = 'code' and removed_at is null;
-- schedules-promising
create index schedule_objective on belfry.schedule (id) where spec ? 'objective';
create index schedule_next on belfry.schedule (next_at, id) where next_at is not null;
create index schedule_paused on belfry.schedule (paused_at) where paused_at is not null;
create index schedule_canceling on belfry.schedule (canceled_below) where canceled_below is not null;
-- What was in force when: backfill plans a time with the expression of that time.
create table belfry.schedule_version (
  schedule_id text not null,
  version     int not null,
  spec        jsonb not null,
  from_at     timestamptz not null,
  primary key (schedule_id, version)
);

create table belfry.occurrence (
  schedule_id      text not null,
  local_time       text not null,
  fold             smallint not null check (fold in (0, 1)),
  timezone         text not null,                       -- whose wall clock: an edit may bring the same reading round again
  nominal_at       timestamptz not null,
  outcome          belfry.occurrence_outcome not null,
  reason           text,
  schedule_version int not null,
  job_id           bigint,
  catch_up         boolean not null default false,
  planned_at       timestamptz not null,
  decided_at       timestamptz,
  lateness_ms      bigint,
  calendar         text,                                -- which excluded its day, by which entry; with a job it was moved
  effective_at     timestamptz,                         -- when a spread time is due; null: at its nominal time, which orders and names it
  primary key (schedule_id, local_time, fold, timezone),
  constraint occurrence_decided check ((decided_at is not null) = (outcome <> 'PLANNED')),
  constraint occurrence_reason check (outcome <> 'SKIPPED' or reason is not null)
);
-- A reading that the clock skipped, or of an excluded day, stands at the instant it would have had, which another may share.
create unique index occurrence_nominal on belfry.occurrence (schedule_id, nominal_at)
  where outcome <> 'COALESCED' and reason is distinct from 'dst-gap' and reason is distinct from 'excluded';
create index occurrence_history on belfry.occurrence (schedule_id, nominal_at desc);
create index occurrence_job on belfry.occurrence (job_id) where job_id is not null;
create index occurrence_planned on belfry.occurrence (nominal_at) where outcome = 'PLANNED';
create index occurrence_waiting on belfry.occurrence (schedule_id, nominal_at) where outcome = 'PLANNED';
-- Decided occurrences, the longest decided first: only pruning reads it.
create index occurrence_decided on belfry.occurrence (decided_at) where decided_at is not null;
-- night: times at which nothing started, few among all that were decided.
create index occurrence_skipped on belfry.occurrence (decided_at) where outcome = 'SKIPPED' and job_id is null;
-- What is due after its nominal time, and waits.
create index occurrence_spread on belfry.occurrence (effective_at) where outcome = 'PLANNED' and effective_at is not null;
