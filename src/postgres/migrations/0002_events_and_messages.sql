-- What jobs did, and the messages that start them.

-- Drawn by the statement that moves jobs, once for each kind of move in it, after it has locked them: a later move of a job
-- always has the larger number.
create sequence belfry.event_id_seq;
-- Only a transaction that has its number draws an event id: a reader that has seen a higher id finds this one by the number.
create function belfry.next_event() returns bigint language sql volatile
  return case when pg_current_xact_id() is not null then nextval('belfry.event_id_seq') end;

-- One row for each kind of move of a statement; the arrays have one element a job, in the same order. Append-only and
-- partitioned by day; no foreign key to job, so that writing one never locks a job row.
create table belfry.event (
  id           bigint not null,
  xid          xid8 not null default pg_current_xact_id(),
  at           timestamptz not null,
  from_state   belfry.job_state,
  to_state     belfry.job_state not null,
  worker       text,
  reason       text,
  error_code   text,
  job_ids      bigint[] not null,
  attempts     int[] not null,
  generations  int[] not null,
  started_at   timestamptz[],                           -- when the attempts began that these moves end
  published_at timestamptz
) partition by range (at);
-- Compressing a list of 1,000 ids takes longer than writing it. Partitions take this from their parent as they are made.
alter table belfry.event alter column job_ids set storage external, alter column attempts set storage external,
  alter column generations set storage external, alter column started_at set storage external;
create index event_stream on belfry.event (xid, id);
create index event_order on belfry.event (id);
create table belfry.event_rest (like belfry.event including all);
alter table belfry.event attach partition belfry.event_rest default;

-- What people read about one job beside its row: each end of an attempt but SUCCESS, each other move with a reason or a caller.
create table belfry.history (
  id            bigint generated always as identity,
  job_id        bigint not null,
  at            timestamptz not null,
  from_state    belfry.job_state,
  to_state      belfry.job_state not null,
  attempt       int not null,
  generation    int not null,
  worker        text,
  reason        text,
  caller        text,
  started_at    timestamptz,                            -- when the attempt began that this move ends
  error_code    text,
  error_message text, detail jsonb                      -- stack, causes, response and log of a failed attempt
) partition by range (at);
create index history_job on belfry.history (job_id, id);
create table belfry.history_rest partition of belfry.history default;

-- Makes and drops days of partitioned tables and nothing else, as the owner: processes read and write rows only.
create function belfry.assert_partition(parent text, day text) returns void language plpgsql
  set search_path = pg_catalog, pg_temp as $$
begin
  if day !~ '^[0-9]{8}$' or not exists (
    select from pg_class where relnamespace = 'belfry'::regnamespace and relname = parent and relkind = 'p')
  then raise insufficient_privilege using message = format('%s of %s is no day of a partitioned table', day, parent);
  end if;
end $$;

-- Attached, not created in place, which would stop inserts into other days. False when rows of that day lie in the default one.
create function belfry.make_partition(parent text, day text) returns boolean language plpgsql
  security definer set search_path = pg_catalog, pg_temp set lock_timeout = '500ms' as $$
declare
  from_at timestamptz;
begin
  perform belfry.assert_partition(parent, day);
  from_at := to_date(day, 'YYYYMMDD')::timestamp at time zone 'UTC';
  execute format('create table belfry.%I (like belfry.%I including all excluding identity)', parent || '_' || day, parent);
  execute format('alter table belfry.%I attach partition belfry.%I for values from (%L) to (%L)',
    parent, parent || '_' || day, from_at, from_at + interval '24 hours');
  return true;
exception when check_violation then
  return false;
end $$;
create function belfry.drop_partition(parent text, day text) returns void language plpgsql
  security definer set search_path = pg_catalog, pg_temp set lock_timeout = '500ms' as $$
begin
  perform belfry.assert_partition(parent, day);
  execute format('drop table if exists belfry.%I', parent || '_' || day);
end $$;

-- Messages that a committed statement decided to send. A confirmed send deletes its row; one whose `at` is old is sent again.
create table belfry.outbox (
  id          bigint generated always as identity primary key,
  at          timestamptz not null,
  lane        text not null,
  job_ids     bigint[] not null,
  generations int[] not null,
  resent      int not null default 0 -- how often it was sent again; the fence of its sender
);
alter table belfry.outbox alter column job_ids set storage external, alter column generations set storage external;
-- reopen, requeue-empty, requeue-overtaken
create index outbox_open on belfry.outbox (lane, at, id);
create index outbox_resent on belfry.outbox (at, id) where resent > 1;
