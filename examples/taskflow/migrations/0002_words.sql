-- The platform's own tables, as views of Belfry's rows. QUEUED is Belfry's word for a job whose message is out.

create view taskflow.jobs as
select id, key as job_key, payload ->> 'type' as type, payload - 'type' as payload,
  case when state <> 'QUEUED' then state::text when failures > 0 then 'RETRY_WAIT' else 'PENDING' end as status,
  due_at as scheduled_at, case when state in ('PENDING', 'QUEUED', 'RETRY_WAIT') then due_at end as next_run_at, attempt as attempt_count, max_attempts,
  worker as worker_id, generation as version, progress, error_code, created_at,
  greatest(created_at, dispatched_at, started_at, finished_at) as updated_at
from belfry.job where kind = 'taskflow-job';

create view taskflow.job_attempts as
select a.job_id || ':' || a.attempt as id, a.job_id, a.attempt as attempt_no, a.outcome as status, a.worker as worker_id,
  a.error_code, a.error_message, a.started_at, a.ended_at
from belfry.attempt a join belfry.job j on j.id = a.job_id
where j.kind = 'taskflow-job';

create view taskflow.job_events as
select e.id || ':' || move.place as id, move.job_id, e.to_state::text as event_type,
  jsonb_strip_nulls(jsonb_build_object('from', e.from_state, 'attempt', move.attempt, 'worker', e.worker, 'reason', e.reason,
    'error_code', e.error_code)) as payload,
  e.published_at, e.at as created_at
from belfry.event e cross join lateral unnest(e.job_ids, e.attempts) with ordinality as move (job_id, attempt, place)
join belfry.job j on j.id = move.job_id
where j.kind = 'taskflow-job';
