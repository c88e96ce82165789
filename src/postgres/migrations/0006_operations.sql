-- For operators: live jobs by id, paused lanes, workers, counts by the minute, bulk actions, and who changed what.

-- A lane has a row once it was changed.
create table belfry.lane (
  name         text primary key,                        -- of a lane, or `kind:` and a kind
  paused_until timestamptz,                             -- none of its jobs starts before it; 'infinity': until it is resumed
  paused_at    timestamptz,
  paused_by    text,
  pause_reason text,
  blackouts    tstzmultirange not null default '{}',    -- of the next days, by the definition of the lane or kind: none of its jobs starts in them
  opened_until timestamptz                              -- the end of the blackout that a person has ended
);

-- Workers. Kept up to date from the events: a worker itself writes only its first row.
create table belfry.worker (
  id         text primary key,
  lane       text,
  version    text,
  log_group  text,                                      -- of CloudWatch Logs, with its region before it: region:name
  started_at timestamptz not null,
  seen_at    timestamptz not null,
  ended      bigint not null default 0,                 -- attempts that ended
  failed     bigint not null default 0,                 -- attempts that ended in FAILED or RETRY_WAIT
  lost       bigint not null default 0,                 -- jobs that were taken from it because its lease had passed
  lost_at    timestamptz
);
create index worker_seen on belfry.worker (seen_at);
-- waiting
create index worker_lane on belfry.worker (lane, seen_at);

-- Which server this is, and how often a copy of it was promoted: '<system identifier>/<timeline>'. Some services hide the second.
create function belfry.server() returns text language plpgsql stable as $$
begin
  return (select system_identifier from pg_control_system())
    || '/' || ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int;
exception when feature_not_supported or object_not_in_prerequisite_state or insufficient_privilege then
  return (select system_identifier from pg_control_system()) || '/0';
end $$;

-- One row for each history of events, the newest counts. A restore, a failover to a copy and a move to another server begin a
-- new one, because transaction numbers and event ids are given out again; a cursor of another epoch is answered with a gap.
create table belfry.epoch (
  number         int primary key,
  name           text not null,                         -- by chance: two restores of one backup are two epochs
  server         text not null,                         -- where it began
  first_event_id bigint not null,                       -- events below it come from a server whose transactions are unknown here
  began_at       timestamptz not null
);
insert into belfry.epoch (number, name, server, first_event_id, began_at)
  values (1, left(md5(gen_random_uuid()::text), 8), belfry.server(), 1, belfry.now());

-- How far the readers of the event stream are. `upto` is the snapshot they have read, `version` makes a step a compare-and-set.
create table belfry.reader (
  name    text primary key,
  upto    text not null,
  version bigint not null default 0,
  owner       text,                                     -- the process that sends its events, alone until lease_until
  owner_until timestamptz,
  failures    int not null default 0,                   -- since the last time that all was accepted
  retry_at    timestamptz
);

-- Counts by minute, kind and lane, added up from the events; the overview and its curves read only this.
create table belfry.minute (
  at        timestamptz not null,
  kind      text not null,
  lane      text not null,
  created   int not null default 0,
  started   int not null default 0,
  succeeded int not null default 0,
  failed    int not null default 0,
  retried   int not null default 0,
  canceled  int not null default 0,
  skipped   int not null default 0,
  lost      int not null default 0,
  run_ms    bigint not null default 0,
  slow         int not null default 0,                  -- attempts that took longer than `slowTryMs`
  late         int not null default 0,                  -- jobs that started later than `lateStartMs`
  items        int not null default 0,                  -- of batches, whatever the handler returned and however the attempt ended
  items_failed int not null default 0,
  locked       int not null default 0,                  -- attempts that got their lock
  lock_failed  int not null default 0,
  primary key (at, kind, lane)
);

-- Histograms by hour, kind and lane, added up from the events: one row for each duration that occurred. `bucket` counts the
-- bounds of `hourBuckets` that a duration reaches.
create table belfry.hour (
  at      timestamptz not null,
  kind    text not null,
  lane    text not null,
  bucket  int not null,
  waited  int not null default 0,                       -- attempts that started, by how long their job was due
  ran     int not null default 0,                       -- attempts that ended, by how long they ran
  failed  int not null default 0,                       -- those of them that failed
  primary key (at, kind, lane, bucket)
);

-- Totals by kind for the metrics page; they only grow.
create table belfry.kind_total (
  kind             text primary key,
  attempts         bigint not null default 0,
  seconds          float8 not null default 0,
  buckets          bigint[] not null,                   -- attempts by how long they took, not yet cumulative
  items_processed  bigint not null default 0,
  items_succeeded  bigint not null default 0,
  items_failed     bigint not null default 0,
  locks_acquired   bigint not null default 0,
  locks_failed     bigint not null default 0,
  failed_seconds   float8 not null default 0,           -- of the attempts that did not succeed, as `seconds` of all
  failed_buckets   bigint[] not null default '{}',
  late_seconds     float8 not null default 0,
  late_buckets     bigint[] not null default '{}',
  created          bigint not null default 0,
  succeeded        bigint not null default 0,
  failed           bigint not null default 0,
  lost             bigint not null default 0,
  released         bigint not null default 0,           -- attempts that were given back, neither good nor bad
  canceled         bigint not null default 0,
  skipped          bigint not null default 0,
  attempts_canceled bigint not null default 0
);

create table belfry.bulk (
  id          bigint generated always as identity primary key,
  action      text not null check (action in ('retry', 'cancel', 'backfill')),
  filter      jsonb not null,
  caller      text not null,
  state       text not null check (state in ('RUNNING', 'DONE', 'STOPPED')),
  newest      bigint not null,                          -- jobs that came later are not touched
  next        bigint not null,                          -- goes down from `newest`
  matched     int not null,                             -- counted when it was asked for, up to the limit
  is_more     boolean not null,                         -- more than that matched
  pace_ms     float8 not null default 0,                -- between the due times of two retried jobs
  due_at      timestamptz not null,                     -- of the next retried job
  canary      text not null default 'none' check (canary in ('none', 'wanted', 'out', 'passed', 'failed')),
  steps       int[] not null default '{}',              -- jobs of each group before all the rest
  step        int not null default 1 check (step > 0),
  groups      text[] not null default '{}',             -- fingerprints of what it has chosen
  canaries    bigint[] not null default '{}',           -- the jobs of this step; 'wanted' with some: chosen, and not yet retried
  failed      int not null default 0 check (failed >= 0), -- of the step that stopped it
  failed_code text,                                     -- of most of those
  changed     int not null default 0 check (changed >= 0),
  taken_along int not null default 0 check (taken_along >= 0), -- did not match; a retried job of their run took them along
  owner       text,                                     -- the process that goes on with it, while `updated_at` is fresh
  refused     int not null default 0 check (refused >= 0), -- matched, but had moved before their turn
  created_at  timestamptz not null,
  updated_at  timestamptz not null,
  finished_at timestamptz
);
create index bulk_open on belfry.bulk (id) where state = 'RUNNING';
create index bulk_finished on belfry.bulk (finished_at) where finished_at is not null;

-- Requests that made something once for their key: sent again they are answered with what the first one made.
create table belfry.request_key (
  key        text primary key,
  hash       bytea not null,                            -- of all that was asked
  made       text not null,                             -- the id of the bulk action or the run
  created_at timestamptz not null
);
create index request_key_age on belfry.request_key (created_at);

-- Where this stage is one of several cells: which of them has which keys. One row.
create table belfry.cell_map (
  one     boolean primary key default true check (one),
  version int not null check (version >= 1),
  map     jsonb not null
);

-- Who changed what through the API.
create table belfry.audit (
  id     bigint generated always as identity primary key,
  at     timestamptz not null,
  caller text not null,
  action text not null,                                 -- method and path of the endpoint
  target text not null,                                 -- the path as it was asked
  status int not null,
  detail jsonb not null,
  trace  text not null
);

-- What each kind marked as sensitive, release by release, as JSON Schema: what was written under a mark stays hidden when a later
-- release drops it, or the whole kind. '{}': a release had the kind and marked nothing.
create table belfry.sensitive (
  kind  text not null,
  marks jsonb not null
);
create unique index sensitive_once on belfry.sensitive (kind, md5(marks::text));

-- Under it the audit keeps an HMAC of each payload, which no other process can compare with guesses. One row, made at its first use:
-- a copy of all rows into a database that was just migrated brings its own.
create table belfry.stage_key (
  one boolean primary key default true check (one),
  key bytea not null
);

create function belfry.audit_retention() returns interval language sql immutable parallel safe return interval '400 days';

-- What has left for the archive: one row for each part of it.
create table belfry.archive (
  part          text primary key,
  objects       bigint not null default 0,
  rows          bigint not null default 0,
  bytes         bigint not null default 0,              -- as they are stored
  until_at      timestamptz,                            -- the newest end of a row in it
  behind        text not null default '',               -- of a day that is dropped next: what was written of it
  failing_since timestamptz,                            -- null: the last write succeeded
  failure       text
);

-- Failures that look alike: numbers and ids in the message do not matter, nor what follows its first 300 characters.
create function belfry.fingerprint(kind text, code text, message text) returns text
  language sql immutable parallel safe
  return left(md5(kind || chr(31) || coalesce(code, '') || chr(31)
    || left(regexp_replace(left(coalesce(message, ''), 600), '[0-9a-fA-F]*[0-9][0-9a-fA-F-]*', '#', 'g'), 300)), 12);

-- For people with SQL: durations never negative, words instead of flags.
create view belfry.job_overview as
  select id, kind, key, state,
    case
      when hold = 'slot' then 'held: ' || held_on
      when hold = 'paused' then 'paused'
      when blocked then 'waiting for predecessors'
      when state = 'RETRY_WAIT' then 'retrying at ' || due_at
      when state in ('PENDING', 'QUEUED') and due_at > belfry.now() then 'scheduled until ' || due_at
      else lower(state::text)
    end as phase,
    lane, failures, max_attempts, attempt, error_code, error_message, due_at, started_at, finished_at,
    greatest(interval '0', coalesce(finished_at, belfry.now()) - started_at) as ran_for
  from belfry.job;

-- Every move of every job, one row each: `place` is where it stands in its event.
create view belfry.move as
  select e.id as event_id, m.place, e.xid, e.at, m.job_id, e.from_state, e.to_state, m.attempt, m.generation, e.worker, e.reason,
    e.error_code, m.started_at
  from belfry.event e
  cross join lateral unnest(e.job_ids, e.attempts, e.generations, e.started_at) with ordinality
    as m (job_id, attempt, generation, started_at, place);

-- An attempt ends in a word of its own, not in the job's next state.
-- The TypeScript of it is `attemptOutcomeOf` in src/machine/attempt-outcome.ts; test/postgres/attempt-outcomes.test.ts holds them equal.
create function belfry.attempt_outcome(to_state belfry.job_state, reason text, error_code text) returns text
  language sql immutable parallel safe
  return case
    when to_state in ('SUCCESS', 'CANCELED') then to_state::text
    when reason = 'lost' or (reason = 'interrupted' and error_code = 'WORKER_LOST') then 'LOST'
    when to_state = 'QUEUED' or reason = 'postponed' then 'RELEASED'
    else 'FAILED'
  end;

-- The attempts that ended: history has each that did not succeed, the job row its success.
create view belfry.attempt as
  select job_id, attempt, coalesce(worker, '') as worker, started_at, at as ended_at,
    belfry.attempt_outcome(to_state, reason, error_code) as outcome, error_code, error_message
  from belfry.history where from_state = 'RUNNING'
  union all
  select id, attempt, coalesce(worker, ''), started_at, finished_at, 'SUCCESS', null, null
  from belfry.job where state = 'SUCCESS';

-- What batches of one attempt did, until the roll-up has added it up.
create table belfry.batch_count (
  kind      text not null,
  lane      text not null,
  at        timestamptz not null,
  processed int not null,
  succeeded int not null,
  failed    int not null
);

-- A histogram of some values: one count for each upper bound, and one for what is above them all.
create function belfry.counted_in(measured float8[], bounds float8[]) returns bigint[] language sql immutable
  return array(
    select count(v) from generate_series(0, cardinality(bounds)) as bucket
    left join unnest(measured) v on width_bucket(v, bounds) = bucket
    group by bucket order by bucket
  );
-- Two histograms, each of which may be empty.
create function belfry.added(a bigint[], b bigint[]) returns bigint[] language sql immutable
  return array(
    select coalesce(x, 0) + coalesce(y, 0) from unnest(a, b) with ordinality as t (x, y, i) order by i
  );
