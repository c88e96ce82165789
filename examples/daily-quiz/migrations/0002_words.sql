-- The notification log as its author has it: a row for each user and day. A target that waits for another attempt is QUEUED;
-- FAILED is a dead letter, whose last failure is not followed by a retry, so `retry_count` goes from 0 to 3.
create view daily_quiz.quiz_notification_log as
select id, run_id, (payload ->> 'userId')::bigint as user_id, payload ->> 'day' as day, payload ->> 'quizId' as quiz_data,
  case
    when state = 'SUCCESS' then 'SENT'
    when state = 'RUNNING' then 'PROCESSING'
    when state = 'SKIPPED' then 'UNSUBSCRIBED'
    when state in ('FAILED', 'CANCELED') then state::text
    when failures > 0 then 'QUEUED'
    else state::text
  end as status,
  greatest(failures - (state = 'FAILED')::int, 0) as retry_count, error_code, due_at as send_at, created_at,
  greatest(created_at, dispatched_at, started_at, finished_at) as updated_at
from belfry.job
where kind = 'send-push';

-- One line for each zone's quiz of a day, over all runs that send it: the day's, and those of its latecomers.
create view daily_quiz.quiz_day as
select log.day, app_user.zone, log.quiz_data, count(*)::int as targets,
  (count(*) filter (where status in ('PENDING', 'QUEUED') and retry_count = 0))::int as waiting,
  (count(*) filter (where status = 'PROCESSING'))::int as processing,
  (count(*) filter (where status = 'QUEUED' and retry_count > 0))::int as retrying,
  (count(*) filter (where status = 'SENT'))::int as sent,
  (count(*) filter (where status = 'UNSUBSCRIBED'))::int as unsubscribed,
  (count(*) filter (where status = 'FAILED'))::int as dead_letters
from daily_quiz.quiz_notification_log as log
join daily_quiz.app_user on app_user.id = log.user_id
group by log.day, app_user.zone, log.quiz_data;
