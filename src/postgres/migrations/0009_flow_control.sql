-- What flow control keeps beside the slots: circuits, turns, bursts; and what each key used.

-- Circuits: jobs of kinds whose failures say that what they call is down wait on hold until one of them, the probe, succeeds.
create table belfry.circuit (
  name           text primary key,
  open_until     timestamptz,                             -- null: closed. From then on one held job is let through, as the probe
  opened_at      timestamptz,
  ended          int not null default 0,                  -- attempts when it opened, how many of them failed by its codes, and by which most
  failed         int not null default 0,
  code           text not null default '',
  probe_id       bigint,
  probe_failures int,                                     -- the job's failures when it was chosen: more are the probe's
  page           int not null default 10 check (page > 0), -- held jobs that the next pass after its end releases
  retry_at       timestamptz                              -- of a retry budget, 'retry:KIND', which never opens: its retries have times up to then
);

-- Ends of attempts by second, worker and code, until they are too old to count. Code '': not one of the circuit's.
create table belfry.circuit_count (
  name   text,
  at     timestamptz,
  worker text,
  code   text,
  n      int not null check (n > 0),
  primary key (name, at, worker, code)
);

-- Lanes whose jobs take turns. pass: the turn that the last dispatch began with; a key that comes back begins there.
create table belfry.turn_lane (
  lane     text primary key,
  places   int not null check (places > 0),
  ahead    int not null check (ahead >= places),          -- jobs of the lane whose message may be out, RUNNING ones among them
  aging_ms bigint not null check (aging_ms > 0),          -- what one level of priority is worth
  pass     float8 not null default 0
);

-- The keys that share a lane. The one with the lowest pass is next; each job moves it on by 1 / weight.
create table belfry.turn (
  lane  text,
  key   text,
  pass  float8 not null,
  waits boolean not null,
  marks bigint not null default 1,                        -- each that says "it waits": a dispatch that has not seen it clears nothing
  primary key (lane, key)
) with (fillfactor = 70);
create index turn_next on belfry.turn (lane, pass, key) where waits;

-- The newest burst of each key. Locked before its job, so that one call at a time joins or begins one.
create table belfry.debounce (
  kind   text,
  key    text,
  job_id bigint,                                        -- null: a call that rolled back, or did not end yet
  at     timestamptz not null,                          -- when the burst began
  primary key (kind, key)
) with (fillfactor = 70);
-- debounce-forget
create index debounce_at on belfry.debounce (at);

-- What a day's jobs used by kind, lane, schedule and key, added up from the events: what is priced. '' where there is none; '(others)'
-- in both columns for what would be one row too many of a day.
create table belfry.usage (
  day         date not null,                            -- in UTC
  kind        text not null,
  lane        text not null,
  schedule_id text not null,
  key         text not null,
  attempts    bigint not null,                          -- that started
  calls       float8 not null,                          -- of workers: a claim of n jobs is 1/n for each
  run_ms      bigint not null,                          -- of the attempts that ended, whatever their end
  minute_ms   bigint not null,                          -- the same, each taken for a minute at least
  primary key (day, kind, lane, schedule_id, key)
);
-- The key that a job is counted under: of its fairness, else of its first cap or rate by key.
create function belfry.usage_key(turn text, slot_keys text[]) returns text language sql immutable parallel safe
  return coalesce(
    substring(turn from '^turn:[^#]*#-?\d+#(.+)$'),
    (select substring(s from '^[^#]*#(.*)$') from unnest(slot_keys) with ordinality as k (s, place)
     where s ~ '^(cap|rate):[^#]*#' order by place limit 1),
    '');
