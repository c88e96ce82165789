-- The graph system's own words over our rows.

create view dag_batch.dag_run as
select run.id as dag_run_id, run.kind as dag_id, run.key as run_key, run.version as dag_version,
  case run.state when 'DONE' then 'SUCCEEDED' when 'FAILED' then 'FAILED' when 'CANCELED' then 'CANCELED' else 'RUNNING' end as status,
  progress.total as tasks, progress.waiting, progress.ready, progress.running, progress.ok as succeeded, progress.failed,
  progress.skipped, progress.percent, run.parent_id as rerun_of, run.created_at as started_at, run.finished_at as ended_at
from belfry.run
join belfry.run_progress as progress on progress.id = run.id
where run.kind in ('settlement', 'workflow');

create view dag_batch.task_instance as
select job.id as task_instance_id, job.run_id as dag_run_id, job.task as task_id,
  case
    when job.state = 'SUCCESS' then 'SUCCEEDED'
    when job.state = 'SKIPPED' and job.not_taken then 'NOT_TAKEN'
    when job.state in ('SKIPPED', 'FAILED', 'CANCELED', 'RUNNING') then job.state::text
    when job.blocked then 'WAITING'
    when job.failures > 0 then 'BACKOFF'
    else 'READY'
  end as status,
  job.preds_open as pending_predecessors, job.attempt as tries, job.error_code as reason, job.result as output,
  job.started_at, job.finished_at as ended_at
from belfry.job
join belfry.run on run.id = job.run_id
where run.kind in ('settlement', 'workflow');

-- The tables of the outbox design, as views. The version of a graph is its shape: a number for each hash, in the order of first use.
create view dag_batch.batch_instance as
select run.id, dense_rank() over (partition by run.kind, run.input ->> 'graph' order by shape.first_id) as dag_version,
  run.shape as dag_hash, run.key as biz_key,
  case run.state when 'DONE' then 'DONE' when 'FAILED' then 'FAILED' when 'CANCELED' then 'ABORTED' else 'RUNNING' end as status,
  run.created_at, coalesce(run.finished_at, run.created_at) as updated_at
from belfry.run
join lateral (
  select min(same.id) as first_id from belfry.run as same
  where same.kind = run.kind and same.shape = run.shape and same.input ->> 'graph' is not distinct from run.input ->> 'graph'
) as shape on true
where run.kind in ('settlement', 'workflow');

create view dag_batch.outbox_evt as
select job.id, job.run_id as batch_id, job.task as task_key, job.preds_open as pre_cnt,
  case job.state when 'RUNNING' then 'PROCESSING' when 'SUCCESS' then 'DONE' when 'FAILED' then 'FAILED' when 'SKIPPED' then 'SKIPPED'
    when 'CANCELED' then 'ABORTED' else 'READY' end as status,
  job.worker as worker_id, job.due_at as visible_at, job.failures as attempts, run.input as payload, job.error_code, job.created_at,
  greatest(job.created_at, job.dispatched_at, job.started_at, job.finished_at) as updated_at
from belfry.job
join belfry.run on run.id = job.run_id
where run.kind in ('settlement', 'workflow');
