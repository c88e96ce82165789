create schema if not exists time_capsule;

create table time_capsule.app_user (
  id                bigint primary key,
  email             text not null,
  wants_email       boolean not null,
  -- Of the user's newest notification. The transaction that writes the next one holds this row, so numbers become visible in their order.
  last_notification bigint not null default 0
);

create table time_capsule.capsule (
  id        bigint primary key,
  title     text not null,
  content   text not null,
  -- Taken when the capsule was closed. One whose content is damaged can never be opened.
  checksum  text not null,
  opens_at  timestamptz not null,
  opened_at timestamptz
);
create index capsule_closed on time_capsule.capsule (id) where opened_at is null;

create table time_capsule.member (
  capsule_id bigint not null references time_capsule.capsule,
  user_id    bigint not null references time_capsule.app_user,
  primary key (capsule_id, user_id)
);

create table time_capsule.notification (
  user_id    bigint not null references time_capsule.app_user,
  n          bigint not null,
  capsule_id bigint not null references time_capsule.capsule,
  created_at timestamptz not null,
  primary key (user_id, n),
  unique (capsule_id, user_id)
);

-- One row for each try of a mail, also for one that failed or whose worker died.
create table time_capsule.mail_log (
  job_id        bigint not null,
  attempt       int not null,
  recipient     text not null,
  outcome       text not null check (outcome in ('success', 'retry', 'failed', 'canceled', 'lost')),
  error_code    text,
  error_message text,
  at            timestamptz not null,
  primary key (job_id, attempt, outcome)
);
