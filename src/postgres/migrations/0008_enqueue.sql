-- Jobs from any language, in the caller's own transaction: select belfry.enqueue('send-mail', '{"to": "ada@example.org"}', key => 'ada').

-- What may be enqueued so, as the newest deployment of its app defines it.
create table belfry.kind (
  id           text primary key,
  app          text not null,
  lane         text not null,
  lease_ms     int not null,
  max_attempts int not null,
  retention_ms bigint not null,
  slot_keys    text[] not null,
  refusal      text,                                    -- why its jobs cannot be written here
  payload      jsonb                                    -- the JSON Schema of its payload; null: it takes none
);

-- What is wrong with a value by its JSON Schema, as far as these words say it: type, enum, const, anyOf, minimum, maximum, required,
-- properties, additionalProperties: false, items. Null: nothing. The handler's own schema judges the rest before it runs.
create function belfry.payload_fault(schema jsonb, given jsonb, place text) returns text language plpgsql immutable
  set search_path = pg_catalog, pg_temp as $$
declare
  types jsonb := case jsonb_typeof(schema -> 'type') when 'string' then jsonb_build_array(schema -> 'type') else schema -> 'type' end;
  form text := jsonb_typeof(given);
  member record;
  fault text;
begin
  if jsonb_typeof(schema) <> 'object' then return null; end if;
  if types is not null and not (types ? form or (types ? 'integer' and form = 'number' and given::numeric % 1 = 0)) then
    return format('%s is a %s: it must be %s', place, form, (select string_agg(t, ' or ') from jsonb_array_elements_text(types) t));
  end if;
  if schema ? 'const' and schema -> 'const' <> given then return format('%s must be %s', place, schema -> 'const'); end if;
  if schema ? 'enum' and not exists (select from jsonb_array_elements(schema -> 'enum') e where e = given) then
    return format('%s must be one of %s', place, schema -> 'enum');
  end if;
  if schema ? 'anyOf' and not exists (
    select from jsonb_array_elements(schema -> 'anyOf') e where belfry.payload_fault(e, given, place) is null)
  then return format('%s has none of the forms that its kind takes', place); end if;
  if form = 'number' and given::numeric < (schema ->> 'minimum')::numeric then
    return format('%s must be at least %s', place, schema ->> 'minimum');
  end if;
  if form = 'number' and given::numeric > (schema ->> 'maximum')::numeric then
    return format('%s must be at most %s', place, schema ->> 'maximum');
  end if;
  if form = 'array' and schema ? 'items' then
    for member in select e.item, e.nr - 1 as nr from jsonb_array_elements(given) with ordinality as e (item, nr) loop
      fault := belfry.payload_fault(schema -> 'items', member.item, format('%s[%s]', place, member.nr));
      if fault is not null then return fault; end if;
    end loop;
  end if;
  if form <> 'object' then return null; end if;
  for member in select name from jsonb_array_elements_text(schema -> 'required') as name loop
    if not given ? member.name then return format('%s.%s is missing', place, member.name); end if;
  end loop;
  for member in select e.key as name, e.value as item, schema -> 'properties' -> e.key as rule from jsonb_each(given) e loop
    if member.rule is null and schema -> 'additionalProperties' = 'false' then
      return format('%s.%s is not known', place, member.name);
    end if;
    fault := belfry.payload_fault(member.rule, member.item, format('%s.%s', place, member.name));
    if fault is not null then return fault; end if;
  end loop;
  return null;
end $$;

-- Writes one job; with a key at most once: the same key and payload answer the job that exists. Due at once, or at `due_at`.
-- The scheduler sends its message after the commit, as of every waiting job. Raises 22023 for what the kind does not take, and
-- 23505 for a key that exists with another payload. Locks: the unique entry of its key, until the caller's transaction ends.
create function belfry.enqueue(kind text, payload jsonb default 'null', key text default null, due_at timestamptz default null)
  returns bigint language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  rule belfry.kind;
  input jsonb := coalesce(enqueue.payload, 'null');
  due timestamptz := coalesce(enqueue.due_at, belfry.now());
  fault text;
  existing record;
  job_id bigint;
begin
  select * into rule from belfry.kind k where k.id = enqueue.kind;
  fault := case
    when rule.id is null then format('kind %s is not known: deploy the app that defines it first', coalesce(enqueue.kind, 'null'))
    when exists (select from belfry.cell_map) then 'this database is one of several cells: enqueue by the API, which chooses the cell'
    when rule.refusal is not null then format('kind %s cannot be enqueued here: %s', rule.id, rule.refusal)
    when length(enqueue.key) not between 1 and 512 then format('key of %s must be 1 to 512 characters; it has %s', rule.id, length(enqueue.key))
    when due not between '1970-01-01Z' and '9999-12-31T23:59:59.999Z' then format('due_at of %s must lie between the years 1970 and 9999', rule.id)
    when octet_length(input::text) > 262144 then format('payload of %s is %s bytes; the limit is 262144', rule.id, octet_length(input::text))
    when rule.payload is null and input <> 'null' then format('payload of %s must be null: the kind takes none', rule.id)
    else belfry.payload_fault(rule.payload, input, 'payload')
  end;
  if fault is not null then raise invalid_parameter_value using message = fault; end if;
  -- A key that another open transaction inserts is waited for; one whose transaction was rolled back is inserted again.
  for round in 1 .. 3 loop
    with written as (
      insert into belfry.job (kind, key, payload, lane, state, event_id, due_at, lease_ms, max_attempts, retention_ms, slot_keys,
        trace, created_at)
      values (rule.id, enqueue.key, input, rule.lane, 'PENDING', belfry.next_event(), due, rule.lease_ms, rule.max_attempts,
        rule.retention_ms, rule.slot_keys, replace(gen_random_uuid()::text, '-', ''), belfry.now())
      on conflict (belfry.key_hash(kind, key)) where key is not null do nothing
      returning id, event_id
    ), recorded as (
      insert into belfry.event (id, at, to_state, job_ids, attempts, generations)
      select event_id, belfry.now(), 'PENDING', array[id], array[0], array[0] from written
    )
    select id into job_id from written;
    if job_id is not null then return job_id; end if;
    select j.id, (j.kind, j.key, j.payload) is distinct from (rule.id, enqueue.key, input) as conflicts into existing
    from belfry.job j where belfry.key_hash(j.kind, j.key) = belfry.key_hash(rule.id, enqueue.key) and j.key is not null;
    if existing.conflicts then
      raise unique_violation using message = format('key %s of %s already belongs to job %s, with another payload', enqueue.key, rule.id, existing.id);
    end if;
    if existing.id is not null then return existing.id; end if;
  end loop;
  raise serialization_failure using message = format('key %s of %s exists but cannot be seen: use READ COMMITTED', enqueue.key, rule.id);
end $$;
-- By role: grant usage on schema belfry to shop; grant execute on function belfry.enqueue to shop.
revoke execute on function belfry.enqueue from public;
