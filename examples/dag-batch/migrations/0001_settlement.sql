create schema if not exists dag_batch;

create table dag_batch.shop (id text primary key);

create table dag_batch.booking (
  shop  text not null references dag_batch.shop,
  day   date not null,
  n     int not null,
  kind  text not null check (kind in ('order', 'refund')),
  cents int not null check (cents >= 0),
  primary key (shop, day, n)
);

-- A difference between our books and the bank's statement that a person has to check.
create table dag_batch.ticket (
  id         bigint generated always as identity primary key,
  shop       text not null references dag_batch.shop,
  day        date not null,
  diff_cents int not null,
  unique (shop, day)
);

-- Graphs that come as data, by the name of their file.
create table dag_batch.workflow (
  id      text primary key,
  enabled boolean not null default true
);

-- Graphs that come from tables: a new version is new rows. Runs that began keep the tasks they were started with.
create table dag_batch.task (
  graph     text not null,
  version   int not null check (version > 0),
  name      text not null,
  seconds   float8 not null default 0,
  join_rule text not null default 'all' check (join_rule in ('all', 'any', 'allDone')),
  primary key (graph, version, name)
);

create table dag_batch.task_dep (
  graph    text not null,
  version  int not null,
  from_key text not null,
  to_key   text not null,
  primary key (graph, version, from_key, to_key),
  foreign key (graph, version, from_key) references dag_batch.task,
  foreign key (graph, version, to_key) references dag_batch.task
);
