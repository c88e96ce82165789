-- What fails a run is said by its definition, and a job may follow its end. Both are written when the run opens, so that a later
-- deployment does not change a run that began.

alter table belfry.run
  add column tolerate     numeric not null default 0
    constraint run_tolerate check (tolerate between 0 and 1),  -- the share of its jobs that may fail or be canceled while it ends DONE
  add column continuation jsonb,                        -- the job that its end writes, and on which ends; null for none
  add column continued_by bigint;                       -- that job, once an end has written it: never a second one

create or replace view belfry.run_progress as
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
