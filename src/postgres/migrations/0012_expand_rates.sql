-- Rates: a slot of a group with a window frees itself so long after the start that took it ('rate:KIND'; by key 'rate:KIND#KEY').
alter table belfry.slot_group add column window_ms int check (window_ms > 0);

-- The slot group that a key stands under: its own, or that of all keys of a cap or rate. The id of a kind has no '#'.
create or replace function belfry.rule_of(key text) returns text language sql immutable parallel safe
  return case when (starts_with(key, 'cap:') or starts_with(key, 'rate:')) and strpos(key, '#') > 0
    then split_part(key, '#', 1) || '#' else key end;

-- Slots of canceled jobs whose handlers may still run, without the spent units of rates.
drop index belfry.slot_leaving;
create index slot_leaving on belfry.slot (free_from) where free_from is not null and job_id is not null and kept_for is null;
