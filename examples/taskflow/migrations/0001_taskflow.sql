create schema if not exists taskflow;

-- A part of a report, kept when it is there: a later attempt goes on behind it.
create table taskflow.part (
  name   text not null,
  n      int not null check (n > 0),
  sha256 text not null,
  primary key (name, n)
);

-- A report that is published. Written in the transaction that makes its job SUCCESS, so exactly once.
create table taskflow.report (
  job_id     bigint primary key,
  name       text not null unique,
  parts      int not null check (parts > 0),
  written_at timestamptz not null default now()
);
