-- Messages another part of the shop wrote in its own transactions and could not publish at once.

create schema if not exists batch_scheduler;

create table batch_scheduler.outbox (
  id              bigint generated always as identity primary key,
  key             text not null unique,                 -- the receiver's idempotency key: the same in every try
  topic           text not null,
  body            jsonb not null,
  state           text not null default 'PENDING' check (state in ('PENDING', 'PUBLISHED', 'FAILED')),
  attempts        int not null default 0 check (attempts >= 0),
  next_attempt_at timestamptz not null,
  last_error      text,
  written_at      timestamptz not null,
  finished_at     timestamptz,
  constraint outbox_finished check ((finished_at is not null) = (state <> 'PENDING'))
);

-- A failed message goes to the end of this line, so the oldest can fail for ever without holding up the rest.
create index outbox_waiting on batch_scheduler.outbox (next_attempt_at, id) where state = 'PENDING';
