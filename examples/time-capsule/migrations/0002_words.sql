-- The capsule system's own tables, as views.

create view time_capsule.time_capsule as
select id, title, content, case when opened_at is null then 'CLOSED' else 'OPENED' end as status, closed_at as created_at, opens_at as open_at,
  opened_at, (select min(user_id) from time_capsule.member where capsule_id = capsule.id) as user_id
from time_capsule.capsule;

create view time_capsule.notifications as
select user_id || ':' || n as id, user_id, type, title, content, capsule_id as related_id, created_at from time_capsule.notification;

-- A line for each attempt; `retry_count` says how often the mail had been tried before.
create view time_capsule.email_log as
select job_id || ':' || attempt as id, recipient as email, case outcome when 'SUCCESS' then 'SUCCESS' else 'FAIL' end as status,
  error_message, error_code, attempt - 1 as retry_count, at as created_at
from time_capsule.mail_log;
