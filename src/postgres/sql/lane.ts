import { blackoutEnd } from "../../admission/blackout.ts";
import { closedOf, laneVerdict } from "../../admission/gates.ts";
import { heldInOrder, waitsAgain } from "../../admission/order.ts";
import { kindName } from "../../machine/closable-texts.ts";
import { keptStatement, statement } from "../statement.ts";
import { putBack } from "./put-back.ts";
import type { NewPause } from "../../machine/pause.ts";

/** The same pause again changes nothing. $1 lane $2 paused $3 until $4 by whom $5 why. Locks its row. */
export const writePause = statement<never>("lane-pause")(`
insert into belfry.lane as l (name, paused_until, paused_at, paused_by, pause_reason)
values ($1, case when $2::boolean then coalesce(belfry.at($3::float8), 'infinity') end, case when $2::boolean then belfry.now() end, $4, $5)
on conflict (name) do update set paused_until = excluded.paused_until, paused_at = excluded.paused_at, paused_by = excluded.paused_by,
  pause_reason = excluded.pause_reason, opened_until = case when $2::boolean then l.opened_until else ${blackoutEnd} end
where (l.paused_until, l.pause_reason) is distinct from (excluded.paused_until, excluded.pause_reason) or l.blackouts @> belfry.now()`);

/** Those that have not changed stay as they are. $1 lanes $2 windows. Locks: their rows in name order. */
export const writeBlackouts = statement<{ name: string }>("lane-blackouts")(`
insert into belfry.lane as l (name, blackouts)
select name, windows::tstzmultirange from unnest($1::text[], $2::text[]) as v (name, windows)
where windows <> '{}' or exists (select from belfry.lane k where k.name = v.name) order by name
on conflict (name) do update set blackouts = excluded.blackouts where l.blackouts <> excluded.blackouts
returning name`);

/** Of lane $1 and of all kinds those that a gate closes. Locks nothing. */
export const readClosed = keptStatement<{ names: string[] }>("lanes-closed")(`
select array(select name from belfry.lane l where (name = $1 or starts_with(name, '${kindName("")}')) and ${laneVerdict} is not null order by name) as names`);

/**
 * Messages of a closed lane or kind: QUEUED under that generation -> PENDING on hold, out of the relay's range of `job_wait`, so that
 * a pause costs the relay nothing. $1 ids $2 generations. Locks: jobs in id order, waiting.
 */
export const holdClosed = keptStatement<{ id: string }>("lane-hold")(`
with mine as materialized (
  select j.id, 'paused'::belfry.job_hold as hold, 'lane:' || c.name as held_on, c.refusal as reason
  from belfry.job j cross join lateral (${closedOf("l.name")}) c
  where j.id = any($1::bigint[]) and j.state = 'QUEUED'
    and j.generation = ($2::int[])[array_position($1::bigint[], j.id)]
  order by j.id
  for no key update of j
), ${putBack}`);

const unhold = `update belfry.job set ${waitsAgain} where id = any(array(select id from mine))
returning id`;

/** What a lane held while it was paused may start again; the relay dispatches it. $1 lane $2 limit. Locks: jobs in (due_at, id) order, SKIP LOCKED. */
export const unholdPaused = statement<{ id: string }>("lane-unhold")(`
with mine as materialized (
  select id from belfry.job where ${heldInOrder("'lane:' || $1")} limit $2
  for no key update skip locked
)
${unhold}`);

/**
 * As `lane-unhold`, for every lane that no gate closes: jobs of a pause that has ended by itself, that a worker put on hold just
 * after the resume, or that a resume left on hold because its process died. $1 limit. Locks: jobs in (due_at, id) order by lane, SKIP LOCKED.
 */
export const unholdOpen = keptStatement<{ id: string }>("lane-unhold-open")(`
with mine as materialized (
  select j.id from belfry.lane l cross join lateral (
    select id from belfry.job where ${heldInOrder("'lane:' || l.name")} limit $1
    for no key update skip locked
  ) j
  where ${laneVerdict} is null
  limit $1
)
${unhold}`);

/** Parameters: whether it is paused, until when, by whom, why. */
export const pauseValues = (pause: NewPause | null): unknown[] => [
  pause !== null,
  pause?.until ?? null,
  pause?.by ?? null,
  pause?.reason ?? null,
];
