-- Fairness and priority: such a job waits on hold for its turn ('turn:LANE#LEVEL#KEY', level -1 high, 0 normal, 1 low), until the dispatch
-- of its lane has a place for it. null: it is dispatched as soon as it is due.
alter table belfry.job add column turn text, add column turn_weight real check (turn_weight > 0);

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
