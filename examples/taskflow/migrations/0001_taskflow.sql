create schema if not exists taskflow;

-- A report that is published. Written in the transaction that makes its job SUCCESS, so exactly once.
create table taskflow.report (
  job_id     bigint primary key,
  name       text not null unique,
  parts      int not null check (parts > 0),
  written_at timestamptz not null default now()
);

-- Every try that ended, with its error code, written in the transaction that ended it.
create table taskflow.job_attempt (
  job_id        bigint not null,
  attempt       int not null,
  outcome       text not null check (outcome in ('success', 'retry', 'failed', 'canceled', 'lost')),
  error_code    text,
  error_message text,
  at            timestamptz not null default now(),
  primary key (job_id, attempt, outcome)
);
