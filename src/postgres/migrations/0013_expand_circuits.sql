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
  page           int not null default 10 check (page > 0) -- held jobs that the next pass after its end releases
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
