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
