-- Files that partners serve over HTTP and that we want to have; the answer is the content.
create table batch_scheduler.external_file (
  id              bigint generated always as identity primary key,
  path            text not null unique default '/reports/' || nextval('batch_scheduler.arrival') || '.csv',
  state           text not null default 'PENDING' check (state in ('PENDING', 'DOWNLOADED', 'FAILED')),
  attempts        int not null default 0 check (attempts >= 0),
  next_attempt_at timestamptz not null default belfry.now(),
  last_error      text,
  answer          text,
  finished_at     timestamptz,
  constraint external_file_finished check ((finished_at is not null) = (state <> 'PENDING')),
  constraint external_file_answer check ((answer is not null) = (state = 'DOWNLOADED'))
);

create index external_file_waiting on batch_scheduler.external_file (next_attempt_at, id) where state = 'PENDING';
