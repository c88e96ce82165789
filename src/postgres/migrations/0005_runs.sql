-- Runs: jobs that belong together. Counters decide when a task may start; append-only deltas add up to a run's progress.

create type belfry.run_state as enum ('RUNNING', 'CANCELING', 'DONE', 'FAILED', 'CANCELED');
create type belfry.on_failure as enum ('stop', 'skip-downstream', 'continue');

create table belfry.run (
  id           bigint generated always as identity primary key,
  kind         text not null,
  key          text not null,
  version      int not null,
  shape        text,                                    -- the hash of its tasks and edges; null for a fan-out
  state        belfry.run_state not null,
  sealed       boolean not null default false,
  starter_id   bigint,                                  -- the job that started it
  parent_id    bigint,                                  -- the run it is a rerun of
  input        jsonb not null default 'null',
  on_failure   belfry.on_failure not null default 'skip-downstream',
  stopped      boolean not null default false,          -- a failure under `stop`: nothing of it starts any more
  cursor       jsonb,                                   -- where the next page of a fan-out begins
  total        int not null default 0,
  done         int not null default 0,                  -- what was added up so far; the rest lies in run_delta
  ok           int not null default 0,
  failed       int not null default 0,
  skipped      int not null default 0,
  retention_ms bigint not null default 2592000000,
  trace        text not null default '',
  error        text,                                    -- its starter ended without sealing it, and how: it closes FAILED
  prematerialized_for     timestamptz,                             -- the nominal time its jobs were written before; null once that was decided
  prematerialized_by     text,                                    -- the schedule that may still take it back
  schedule_id  text,                                    -- whose job started it, or the run around it: what it uses counts there
  canceled_by  text,                                    -- the caller, whom the history of its jobs names
  withdrawn    text,                                    -- why it was taken back: its jobs never ran, and their keys are free again
  created_at   timestamptz not null,
  finished_at  timestamptz,
  tolerate     numeric not null default 0               -- the share of its jobs that may fail or be canceled while it ends DONE
    constraint run_tolerate check (tolerate between 0 and 1),
  continuation jsonb,                                   -- the job that its end writes, and on which ends; null for none
  continued_by bigint,                                  -- that job, once an end has written it: never a second one
  constraint run_finished check ((finished_at is not null) = (state in ('DONE', 'FAILED', 'CANCELED'))),
  constraint run_prematerialized check ((prematerialized_for is null) = (prematerialized_by is null))
);
-- Leads with the key, which people search without its kind.
create unique index run_key on belfry.run (key, kind);
create index run_open on belfry.run (id) where state in ('RUNNING', 'CANCELING');
create index run_canceling on belfry.run (id) where state = 'CANCELING';
-- Fan-outs whose pages are being written: a starter that ended otherwise is found along it.
create index run_unsealed on belfry.run (id) where not sealed and finished_at is null;
-- Leads with the retention, as job_finished: pruning reads only what it deletes.
create index run_finished on belfry.run (retention_ms, finished_at) where finished_at is not null;
-- Only prematerialized runs, which every pass reads.
create index run_prematerialized on belfry.run (prematerialized_for) where prematerialized_for is not null;
create index run_list on belfry.run (kind, id);
-- Reruns of a run, and the runs that failed: both few among all that are kept.
create index run_parent on belfry.run (parent_id, id) where parent_id is not null;
create index run_failed on belfry.run (id) where state = 'FAILED';
-- Those whose failed jobs may be tolerated, which each look at the failures asks for.
create index run_tolerant on belfry.run (id) where tolerate > 0;
create index run_starter on belfry.run (starter_id) where starter_id is not null;

create table belfry.edge (
  from_id bigint not null,
  to_id   bigint not null,
  run_id  bigint not null,
  wide    boolean not null default false,               -- fixed at insert: more than 32 predecessors append, they do not lock the join
  primary key (from_id, to_id)
);
create index edge_to on belfry.edge (to_id);

-- Ends that are not counted yet: skipped branches, and jobs that a rescue, a claim or a cancel ended.
create table belfry.run_done (
  id     bigint generated always as identity primary key,
  run_id bigint not null,
  job_id bigint not null
);
create index run_done_run on belfry.run_done (run_id, id);

-- Ended predecessors of wide joins, to be added up.
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

-- What a join does, by its three counters; for a rule with a least number, preds_ok is what has succeeded less (least - 1). The same
-- table as `join.ts`; a test compares them.
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
      when preds_bad > 0 and preds_open + preds_ok <= 0 then 'upstream'
      when preds_open > 0 then 'wait'
      else 'not taken' end
    else case when preds_open > 0 then 'wait' else 'ready' end
  end;

-- Progress for people: the added-up part and the deltas together, so that it never lags.
create view belfry.run_progress as
  select r.id, r.kind, r.key, r.version, r.shape, r.state, r.on_failure, r.stopped, r.sealed, r.parent_id, r.starter_id, r.input,
    f.total, o.ready, o.waiting, o.running, f.done, f.ok, f.failed, f.skipped,
    case when f.total = 0 then case when r.sealed then 100 else 0 end
      else floor(100.0 * f.done / f.total)::int end as percent,
    r.created_at, r.finished_at, r.error, r.tolerate, r.continuation, r.continued_by
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
    where j.run_id = r.id and (j.finished_at is not null)::int = 0
  ) o;
