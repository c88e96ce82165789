-- Files that partners serve over HTTP and that we want to have.

create table batch_scheduler.external_file (
  id              bigint generated always as identity primary key,
  path            text not null unique,
  state           text not null default 'PENDING' check (state in ('PENDING', 'DOWNLOADED', 'FAILED')),
  attempts        int not null default 0 check (attempts >= 0),
  next_attempt_at timestamptz not null,
  last_error      text,
  bytes           int,
  sha256          text,
  content         text,
  finished_at     timestamptz,
  constraint external_file_finished check ((finished_at is not null) = (state <> 'PENDING')),
  constraint external_file_content check ((content is not null) = (state = 'DOWNLOADED'))
);

create index external_file_waiting on batch_scheduler.external_file (next_attempt_at, id) where state = 'PENDING';
