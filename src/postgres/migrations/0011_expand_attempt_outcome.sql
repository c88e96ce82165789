-- An attempt ends in a word of its own, not in the job's next state.

-- The TypeScript of it is `attemptOutcomeOf` in src/machine/attempt-outcome.ts; test/postgres/attempt-outcomes.test.ts holds them equal.
create function belfry.attempt_outcome(to_state belfry.job_state, reason text, error_code text) returns text
  language sql immutable parallel safe
  return case
    when to_state in ('SUCCESS', 'CANCELED') then to_state::text
    when reason = 'lost' or (reason = 'interrupted' and error_code = 'WORKER_LOST') then 'LOST'
    when to_state = 'QUEUED' or reason = 'postponed' then 'RELEASED'
    else 'FAILED'
  end;

-- An app's view of the old one goes on with the old words until the app makes it again.
do $$ begin
  drop view belfry.attempt;
exception when dependent_objects_still_exist then
  alter view belfry.attempt rename to attempt_state;
end $$;

-- The attempts that ended: history has each that did not succeed, the job row its success.
create view belfry.attempt as
  select job_id, attempt, coalesce(worker, '') as worker, started_at, at as ended_at,
    belfry.attempt_outcome(to_state, reason, error_code) as outcome, error_code, error_message
  from belfry.history where from_state = 'RUNNING'
  union all
  select id, attempt, coalesce(worker, ''), started_at, finished_at, 'SUCCESS', null, null
  from belfry.job where state = 'SUCCESS';

-- `retried` is no longer written: a failed attempt is FAILED, whatever follows.
alter table belfry.kind_total add column attempts_canceled bigint not null default 0;
