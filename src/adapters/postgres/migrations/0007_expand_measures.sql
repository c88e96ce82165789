-- What alarms and the metrics page ask about kinds of jobs: items of batches whatever the handler returns and however the try
-- ended, tries by outcome, how late jobs started, and locks.

alter table belfry.minute
  add column slow         int not null default 0,       -- tries that took longer than `limits.slowTryMs`
  add column late         int not null default 0,       -- jobs that started later than `limits.lateStartMs`
  add column items        int not null default 0,
  add column items_failed int not null default 0,
  add column locked       int not null default 0,       -- tries that got their lock
  add column lock_failed  int not null default 0;

alter table belfry.kind_total
  add column failed_seconds  float8 not null default 0, -- of the tries that did not succeed, as `seconds` of all
  add column failed_buckets  bigint[] not null default '{}',
  add column late_seconds    float8 not null default 0,
  add column late_buckets    bigint[] not null default '{}',
  add column created         bigint not null default 0,
  add column succeeded       bigint not null default 0,
  add column failed          bigint not null default 0,
  add column retried         bigint not null default 0,
  add column lost            bigint not null default 0,
  add column released        bigint not null default 0, -- tries that were given back, neither good nor bad
  add column canceled        bigint not null default 0,
  add column skipped         bigint not null default 0;

-- What batches of one try did, until the roll-up has added it up.
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
