import type { Tx } from "../../src/machine/transaction.ts";
import { execute, statement } from "../../src/postgres/statement.ts";

/**
 * From now on a statement of this database that moves a job without the event row it names fails, and one that writes an event
 * whose id it did not draw by `next_event`.
 */
export async function installEventCheck(tx: Tx): Promise<void> {
  await execute(tx, createEventCheck);
}

/** Of `new_rows` those that are QUEUED and that no outbox batch has under their generation. */
const unsent = `left join (
        select m.id, m.generation from belfry.outbox b cross join lateral unnest(b.job_ids, b.generations) as m (id, generation)
      ) sent on sent.id = n.id and sent.generation = n.generation
      where n.state = 'QUEUED' and sent.id is null`;

/**
 * An event is refused whose id its transaction did not draw with `next_event`. The wrapper notes the ids in a setting of the
 * transaction, and asks the product's own function to have given the number.
 */
const drawCheck = `
  if to_regprocedure('belfry.draw_event()') is null then
    alter function belfry.next_event() rename to draw_event;
  end if;
  create or replace function belfry.next_event() returns bigint language plpgsql volatile as $$
  declare
    id bigint := belfry.draw_event();
  begin
    if pg_current_xact_id_if_assigned() is null then
      raise exception 'event % was drawn by a transaction without a number', id using errcode = 'check_violation', constraint = 'event_drawn';
    end if;
    perform set_config('belfry.drawn', concat_ws(',', nullif(current_setting('belfry.drawn', true), ''), id), true);
    return id;
  end $$;
  create or replace function belfry.verify_draw() returns trigger language plpgsql as $$
  begin
    if not new.id = any(string_to_array(current_setting('belfry.drawn', true), ',')::bigint[]) is true then
      raise exception 'event %: its transaction did not draw it with belfry.next_event()', new.id
        using errcode = 'check_violation', constraint = 'event_drawn';
    end if;
    return null;
  end $$;
  create or replace trigger event_drawn after insert on belfry.event
    for each row when (new.xid = pg_current_xact_id()) execute function belfry.verify_draw();`;

/**
 * A trigger that looks for the event row of each move, and for the message of each job that became QUEUED, after each statement.
 * In test databases only: the row guard has already refused a move that names no new event, and looking the rows up costs as
 * much as the move. A job that is inserted with event 0, and an event with another transaction's number, were placed by a test.
 * Locks both tables while it is installed.
 */
const createEventCheck = statement<never>("verify-events")(`
do $do$ begin
  create or replace function belfry.verify_events() returns trigger language plpgsql set enable_nestloop = off as $$
  declare
    wrong text;
    unsent bigint;
  begin
    if tg_op = 'INSERT' then
      select format('job %s: null -> %s by event %s', n.id, n.state, n.event_id) into wrong
      from new_rows n left join (
        select e.id as event_id, e.to_state, m.id, m.attempt, m.generation from belfry.event e
        cross join lateral unnest(e.job_ids, e.attempts, e.generations) as m (id, attempt, generation)
        where e.xid = pg_current_xact_id() and e.from_state is null
      ) r on r.event_id = n.event_id and r.id = n.id and r.to_state = n.state and r.attempt = n.attempt and r.generation = n.generation
      where n.event_id <> 0 and r.id is null limit 1;
    else
      -- Full and left joins with conditions that only hash: a plan kept from a call with one row must not compare each with each.
      select format('job %s: %s -> %s by event %s', n.id, o.state, n.state, n.event_id) into wrong
      from new_rows n full join old_rows o on o.id = n.id
      left join (
        select e.id as event_id, e.from_state, e.to_state, m.id, m.attempt, m.generation from belfry.event e
        cross join lateral unnest(e.job_ids, e.attempts, e.generations) as m (id, attempt, generation)
        where e.xid = pg_current_xact_id()
      ) r on r.event_id = n.event_id and r.id = n.id and r.to_state = n.state and r.attempt = n.attempt and r.generation = n.generation
      where o.state is distinct from n.state and (r.id is null or (r.from_state is distinct from o.state and not (
        o.state = 'RUNNING' and n.state = 'QUEUED' and r.from_state = 'RETRY_WAIT' and exists (
          select from belfry.event p
          where p.xid = pg_current_xact_id() and p.id < r.event_id and p.from_state = 'RUNNING' and p.to_state = 'RETRY_WAIT'
            and n.id = any(p.job_ids)
        )))) limit 1;
    end if;
    if wrong is not null then
      raise exception '%: no event row says so', wrong using errcode = 'check_violation', constraint = 'job_event';
    end if;
    if tg_op = 'INSERT' then
      select n.id into unsent from new_rows n ${unsent} and n.event_id <> 0 limit 1;
    else
      select n.id into unsent from new_rows n join old_rows o on o.id = n.id ${unsent} and o.state <> 'QUEUED' limit 1;
    end if;
    if unsent is not null then
      raise exception 'job % is QUEUED: no outbox batch has its message', unsent using errcode = 'check_violation', constraint = 'job_outbox';
    end if;
    return null;
  end $$;
  drop trigger if exists job_inserts_verified on belfry.job;
  drop trigger if exists job_moves_verified on belfry.job;
  create trigger job_inserts_verified after insert on belfry.job
    referencing new table as new_rows for each statement execute function belfry.verify_events();
  create trigger job_moves_verified after update on belfry.job
    referencing old table as old_rows new table as new_rows for each statement execute function belfry.verify_events();
  ${drawCheck}
end $do$`);
