-- The tables of the outbox design, as views. The version of a graph is that of its tables, which each of its tasks carries.
create view dag_batch.batch_instance as
select run.id, run.kind as dag, coalesce(of_tasks.version, run.version) as dag_version,
  run.shape as dag_hash, run.key as biz_key,
  case run.state when 'DONE' then 'DONE' when 'FAILED' then 'FAILED' when 'CANCELED' then 'ABORTED' else 'RUNNING' end as status,
  run.created_at, coalesce(run.finished_at, run.created_at) as updated_at
from belfry.run
left join lateral (
  select (job.payload ->> 'version')::int as version from belfry.job where job.run_id = run.id limit 1
) as of_tasks on true
where run.kind in ('settlement', 'workflow');

create view dag_batch.outbox_evt as
select job.id, job.run_id as batch_id, job.task as task_key, job.preds_open as pre_cnt,
  case job.state when 'RUNNING' then 'PROCESSING' when 'SUCCESS' then 'DONE' when 'FAILED' then 'FAILED' when 'SKIPPED' then 'SKIPPED'
    when 'CANCELED' then 'ABORTED' else 'READY' end as status,
  job.worker as worker_id, job.due_at as visible_at, job.failures as attempts, run.input || coalesce(nullif(job.payload, 'null'), '{}') as payload, job.error_code, job.result,
  job.not_taken, job.created_at,
  greatest(job.created_at, job.dispatched_at, job.started_at, job.finished_at) as updated_at
from belfry.job
join belfry.run on run.id = job.run_id
where run.kind in ('settlement', 'workflow');
