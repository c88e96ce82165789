-- The quiz system's own words over our rows.

create view daily_quiz.notification_target as
select job.id as target_id, job.run_id, (job.payload ->> 'userId')::bigint as user_id, (job.payload ->> 'day')::date as day,
  job.payload ->> 'quizId' as quiz_id,
  case
    when job.state = 'SUCCESS' then 'SENT'
    when job.state = 'RUNNING' then 'PROCESSING'
    when job.state = 'FAILED' then 'DEAD_LETTER'
    when job.state = 'SKIPPED' then 'UNSUBSCRIBED'
    when job.state = 'CANCELED' then 'CANCELED'
    when job.failures > 0 then 'RETRY'
    else job.state::text
  end as status,
  job.failures as failed_calls, job.error_code as reason, job.due_at as send_at, job.finished_at
from belfry.job
where job.kind = 'send-push';

create view daily_quiz.dead_letter as
select target_id, user_id, day, quiz_id, failed_calls, reason, finished_at as dead_since
from daily_quiz.notification_target
where status = 'DEAD_LETTER';

-- One line for each zone's quiz of a day.
create view daily_quiz.quiz_day as
select target.run_id, target.day, app_user.zone, target.quiz_id, count(*) as targets,
  count(*) filter (where status in ('PENDING', 'QUEUED')) as waiting,
  count(*) filter (where status = 'PROCESSING') as processing,
  count(*) filter (where status = 'RETRY') as retrying,
  count(*) filter (where status = 'SENT') as sent,
  count(*) filter (where status = 'UNSUBSCRIBED') as unsubscribed,
  count(*) filter (where status = 'DEAD_LETTER') as dead_letters
from daily_quiz.notification_target as target
join daily_quiz.app_user on app_user.id = target.user_id
group by target.run_id, target.day, app_user.zone, target.quiz_id;

-- The notification log as its author has it: a row for each user and day. A target that is to be tried again is QUEUED.
create view daily_quiz.quiz_notification_log as
select target_id as id, user_id, quiz_id as quiz_data,
  case status when 'RETRY' then 'QUEUED' when 'DEAD_LETTER' then 'FAILED' else status end as status,
  failed_calls as retry_count, job.created_at,
  greatest(job.created_at, job.dispatched_at, job.started_at, job.finished_at) as updated_at
from daily_quiz.notification_target join belfry.job on job.id = target_id;
