-- Caps by key: one rule row a definition ('cap:KIND#'). The slots of each of its keys ('cap:KIND#KEY') are made at the key's first
-- claim and forgotten when nothing uses them.

-- The slot group that a key stands under: its own, or that of all keys of a kind. The id of a kind has no '#'.
create function belfry.rule_of(key text) returns text language sql immutable parallel safe
  return case when starts_with(key, 'cap:') and strpos(key, '#') > 0 then split_part(key, '#', 1) || '#' else key end;

alter table belfry.slot drop constraint slot_key_fkey;
alter table belfry.slot add column made_at timestamptz;  -- of slot 1 of a key that was made on demand
create index slot_made on belfry.slot (made_at) where made_at is not null;
