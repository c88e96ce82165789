-- Debounce: calls that joined a job after the first, and when it is due at the latest; null: its kind is not debounced. The kind's first
-- call inserts as any job, and a later statement writes these.
alter table belfry.job add column joined int check (joined >= 0), add column due_at_most timestamptz,
  add constraint job_debounce check ((joined is null) = (due_at_most is null));

-- The newest burst of each key. Locked before its job, so that one call at a time joins or begins one.
create table belfry.debounce (
  kind   text,
  key    text,
  job_id bigint,                                        -- null: a call that rolled back, or did not end yet
  at     timestamptz not null,                          -- when the burst began
  primary key (kind, key)
) with (fillfactor = 70);
-- debounce-forget
create index debounce_at on belfry.debounce (at);

-- A payload changes while a debounced job was never started, or by the signal that a task waits for; never under a handler.
create function belfry.refuse_payload() returns trigger language plpgsql as $$
begin
  raise exception 'job %: its payload may not change: it is % and was started % times', old.id, old.state, old.attempt
    using errcode = 'check_violation', constraint = 'job_payload';
end $$;
create trigger job_payload after update of payload on belfry.job for each row
  when (new.payload is distinct from old.payload and not new.awaits_signal
    and (new.due_at_most is null or old.attempt > 0 or old.state not in ('PENDING', 'QUEUED')))
  execute function belfry.refuse_payload();
