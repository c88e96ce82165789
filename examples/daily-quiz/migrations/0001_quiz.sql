create schema if not exists daily_quiz;

create table daily_quiz.app_user (
  id     bigint primary key,
  zone   text not null,
  notify boolean not null default true
);

create index app_user_subscribed on daily_quiz.app_user (zone, id) where notify;

-- A line for each try of each notification, written with its outcome.
create table daily_quiz.push_log (
  id       bigint generated always as identity primary key,
  job_id   bigint not null,
  attempt  int not null,
  user_id  bigint not null,
  day      date not null,
  outcome  text not null check (outcome in ('success', 'retry', 'failed', 'canceled', 'lost')),
  code     text,
  is_final boolean not null,
  at       timestamptz not null default belfry.now()
);

create index push_log_user on daily_quiz.push_log (user_id, day);
