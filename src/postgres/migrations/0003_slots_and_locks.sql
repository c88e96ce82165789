-- Slots bound how many jobs of a key run at once; fences bound who may write as the scheduler.

create type belfry.slot_refusal as enum ('hold', 'skip', 'queue-one');

create table belfry.slot_group (
  key        text primary key,
  size       int not null check (size >= 1),
  on_refusal belfry.slot_refusal not null,
  reason     text not null,
  window_ms  int check (window_ms > 0)                  -- of a rate: a slot frees itself so long after the start that took it
);
-- The group that a key stands under: its own, or that of all keys of a cap or rate. Slots of a key ('cap:KIND#KEY') are made at its first
-- claim and forgotten when nothing uses them. The id of a kind has no '#'.
create function belfry.rule_of(key text) returns text language sql immutable parallel safe
  return case when (starts_with(key, 'cap:') or starts_with(key, 'rate:')) and strpos(key, '#') > 0
    then split_part(key, '#', 1) || '#' else key end;

create table belfry.slot (
  key       text not null,
  n         int not null,                               -- 1 to size; 0 is the one seat for waiting of a queue-one group
  job_id    bigint,
  attempt   int,                                        -- null: the job has ended and its run holds the slot
  kept_for  int,                                        -- reserved for the claim of its QUEUED job under this generation
  free_from timestamptz,                                -- a canceled job keeps its slot until its handler is gone, or until then
  made_at   timestamptz,                                -- of slot 1 of a key that was made on demand
  primary key (key, n)
);
create index slot_holder on belfry.slot (job_id) where job_id is not null;
create index slot_passed on belfry.slot (job_id) where n > 0 and attempt is null and job_id is not null;
-- Of canceled jobs whose handlers may still run, without the spent units of rates.
create index slot_leaving on belfry.slot (free_from) where free_from is not null and job_id is not null and kept_for is null;
create index slot_made on belfry.slot (made_at) where made_at is not null;

-- The newest token of each lock. Fenced writes check it; a stale holder finds no row.
create table belfry.lock_fence (
  name         text primary key,
  token        bigint not null,
  installed_at timestamptz not null,
  passed_at    timestamptz                              -- when the holder's last pass ended without a failed step, in real time
);
-- What one scheduler task saves for the next: since when a lane's queue showed no message.
create table belfry.queue_observation (
  lane        text primary key,
  empty_since timestamptz not null,
  seen_at     timestamptz not null
);
-- Where a step of the pass goes on: behind this key or id; '' is the beginning.
create table belfry.pass_place (
  step   text primary key,
  behind text not null
);
-- In use while the lock store is away; judged by the database's clock.
create table belfry.fallback_lock (
  name        text primary key,
  owner       text,
  fence       bigint not null,
  lease_until timestamptz not null
);

-- Bodies no worker could read, kept for a person.
create table belfry.quarantine (
  id   bigint generated always as identity primary key,
  at   timestamptz not null,
  lane text not null,
  body text not null
);
create index quarantine_at on belfry.quarantine (at);
