-- Runs: jobs that belong together. Counters decide when a task may start; append-only deltas add up to a run's progress.

create type belfry.on_failure as enum ('stop', 'skip-downstream', 'continue');

alter table belfry.run
  add column starter_id   bigint,                       -- the job that started it
  add column parent_id    bigint,                       -- the run it is a rerun of
  add column input        jsonb not null default 'null',
  add column on_failure   belfry.on_failure not null default 'skip-downstream',
  add column stopped      boolean not null default false, -- a failure under `stop`: nothing of it starts any more
  add column cursor       jsonb,                        -- where the next page of a fan-out begins
  add column done         int not null default 0,       -- what was added up so far; the rest lies in run_delta
  add column ok           int not null default 0,
  add column failed       int not null default 0,
  add column skipped      int not null default 0,
  add column retention_ms bigint not null default 2592000000,
  add column trace        text not null default '',
  add column error        text;
create index run_open on belfry.run (id) where state in ('RUNNING', 'CANCELING');
create index run_finished on belfry.run (finished_at) where finished_at is not null;
create index run_list on belfry.run (kind, id);

alter table belfry.job
  add column task      text,                            -- its name inside the graph
  add column asks      boolean not null default false,  -- a condition is asked before it may be claimed
  add column asked_row jsonb,                           -- what the condition of a fan-out is asked about
  add column not_taken boolean not null default false;  -- SKIPPED because its branch was not taken: neither good nor bad

-- Fixed at insert: a join with more than 32 predecessors is not locked by each of them, they append instead.
alter table belfry.edge add column wide boolean not null default false;

-- Ends that nobody counted yet: skipped branches, and whatever a rescue, a claim or a cancel ended.
create table belfry.run_done (
  id     bigint generated always as identity primary key,
  run_id bigint not null,
  job_id bigint not null
);
create index run_done_run on belfry.run_done (run_id, id);

-- Predecessors of wide joins that ended, for whoever appended to add up.
create table belfry.pred_delta (
  id     bigint generated always as identity primary key,
  run_id bigint not null,
  to_id  bigint not null,
  n      int not null,
  ok     int not null,
  bad    int not null
);
create index pred_delta_run on belfry.pred_delta (run_id, id);
create index pred_delta_to on belfry.pred_delta (to_id);

-- The funnel: append-only, so that a thousand workers that finish jobs of one run do not queue for its row.
create table belfry.run_delta (
  id      bigint generated always as identity primary key,
  run_id  bigint not null,
  total   int not null default 0,
  done    int not null default 0,
  ok      int not null default 0,
  failed  int not null default 0,
  skipped int not null default 0
);
create index run_delta_run on belfry.run_delta (run_id, id);

create index job_run_open on belfry.job (run_id, id)
  where run_id is not null and state in ('PENDING', 'QUEUED', 'RUNNING', 'RETRY_WAIT');

-- What a join does, by its three counters. The same table as `join.ts`; a test compares them.
create function belfry.join_verdict(rule belfry.join_rule, preds_open int, preds_ok int, preds_bad int) returns text
  language sql immutable parallel safe
  return case rule
    when 'all' then case
      when preds_bad > 0 then 'upstream'
      when preds_open > 0 then 'wait'
      when preds_ok > 0 then 'ready'
      else 'not taken' end
    when 'any' then case
      when preds_ok > 0 then 'ready'
      when preds_open > 0 then 'wait'
      when preds_bad > 0 then 'upstream'
      else 'not taken' end
    else case when preds_open > 0 then 'wait' else 'ready' end
  end;

-- Whoever ends a job of a run without counting its end leaves it here: no successor may wait for ever because one
-- statement forgot about runs. A part of the guard: a second trigger would cost every claim and settle of single jobs.
create or replace function belfry.guard_job() returns trigger language plpgsql as $$
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

-- Progress for people: the added-up part and the deltas together, so that it never lags.
create view belfry.run_progress as
  select r.id, r.kind, r.key, r.version, r.state, r.sealed, r.parent_id, f.total,
    o.ready, o.waiting, o.running, f.done, f.ok, f.failed, f.skipped,
    case when f.total = 0 then case when r.sealed then 100 else 0 end
      else floor(100.0 * f.done / f.total)::int end as percent,
    r.created_at, r.finished_at, r.error
  from belfry.run r
  cross join lateral (
    select r.total + coalesce(sum(d.total), 0)::int as total, r.done + coalesce(sum(d.done), 0)::int as done,
      r.ok + coalesce(sum(d.ok), 0)::int as ok, r.failed + coalesce(sum(d.failed), 0)::int as failed,
      r.skipped + coalesce(sum(d.skipped), 0)::int as skipped
    from belfry.run_delta d where d.run_id = r.id
  ) f
  cross join lateral (
    select count(*) filter (where j.state <> 'RUNNING' and not j.blocked)::int as ready,
      count(*) filter (where j.blocked)::int as waiting,
      count(*) filter (where j.state = 'RUNNING')::int as running
    from belfry.job j
    where j.run_id = r.id and j.state in ('PENDING', 'QUEUED', 'RUNNING', 'RETRY_WAIT')
  ) o;

-- Decided occurrences, the longest decided first: only pruning reads it.
create index occurrence_decided on belfry.occurrence (decided_at) where decided_at is not null;
