-- Waits in a graph: a task that its predecessors release is due wait_ms later, and one whose signal has come at once. The signal's
-- payload is the task's own.
alter table belfry.job add column wait_ms bigint check (wait_ms >= 0),
  add column awaits_signal boolean not null default false,
  add column signaled_at timestamptz,
  add column signaled_by text;
