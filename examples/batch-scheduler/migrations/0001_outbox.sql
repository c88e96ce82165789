create schema if not exists batch_scheduler;

-- Of rows that are written while the system runs; the seed brings its own numbers.
create sequence batch_scheduler.arrival start with 1000001;

-- Messages another part of the shop wrote in its own transactions and could not publish at once.
create table batch_scheduler.outbox (
  id              bigint generated always as identity primary key,
  key             text not null unique default 'order-' || nextval('batch_scheduler.arrival'),
  body            jsonb not null,
  state           text not null default 'PENDING' check (state in ('PENDING', 'PUBLISHED', 'FAILED')),
  attempts        int not null default 0 check (attempts >= 0),
  next_attempt_at timestamptz not null default belfry.now(),
  last_error      text,
  answer          text,
  finished_at     timestamptz,
  constraint outbox_finished check ((finished_at is not null) = (state <> 'PENDING'))
);

-- A failed message goes to the end of this line, so the oldest can fail for ever without holding up the rest.
create index outbox_waiting on batch_scheduler.outbox (next_attempt_at, id) where state = 'PENDING';
