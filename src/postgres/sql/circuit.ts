import { circuitKey } from "../../admission/circuit.ts";
import { heldInOrder, waitsAgain } from "../../admission/order.ts";
import type { CircuitMove, OpenCircuit } from "../../machine/circuit-store.ts";
import { reasons } from "../../machine/reasons.ts";
import { keptStatement, statement } from "../statement.ts";
import { putBack } from "./put-back.ts";

/** The names of the open circuits. Locks nothing. */
export const readOpen = keptStatement<{ names: string[] }>("circuits-open")(`
select array(select name from belfry.circuit where open_until is not null order by name) as names`);

/**
 * Messages of kinds $3 whose circuit, of $4, is open: QUEUED under that generation -> PENDING on hold. Its probe may start, until it has
 * failed. $1 ids $2 generations. Locks: jobs in id order, waiting.
 */
export const holdOpen = statement<{ id: string }>("circuit-hold")(`
with mine as materialized (
  select j.id, 'paused'::belfry.job_hold as hold, ${circuitKey("c.name")} as held_on, '${reasons.circuitOpen}' as reason
  from belfry.job j join unnest($3::text[], $4::text[]) as k (kind, circuit) on k.kind = j.kind
  join belfry.circuit c on c.name = k.circuit
  where j.id = any($1::bigint[]) and j.state = 'QUEUED' and j.generation = ($2::int[])[array_position($1::bigint[], j.id)]
    and c.open_until is not null and (c.probe_id, c.probe_failures) is distinct from (j.id, j.failures)
  order by j.id
  for no key update of j
), ${putBack}`);

/** $1 names $2 codes $3 ends $4 worker, whose own rows they are. Locks those, and new ones, in the order of their keys. */
export const addCounts = statement<never>("circuit-count")(`
with counted as materialized (
  select name, code, n from unnest($1::text[], $2::text[], $3::int[]) as c (name, code, n) order by name, code
), named as (
  insert into belfry.circuit (name) select distinct name from counted order by name on conflict (name) do nothing
)
insert into belfry.circuit_count as c (name, at, worker, code, n)
select name, date_trunc('second', belfry.now()), $4, code, n from counted
on conflict (name, at, worker, code) do update set n = c.n + excluded.n`);

/** $1 names $2 shares $3 times in ms $4 minima $5 pauses in ms $6 whether one code counts, and of a whole share what came after the last success. Locks: closed circuits, SKIP LOCKED: one process counts at a time. */
export const openFailing = statement<OpenCircuit>("circuit-judge")(`
with mine as materialized (
  select c.name, r.share, r.over_ms, r.minimum, r.pause_ms, r.alike
  from belfry.circuit c join unnest($1::text[], $2::float8[], $3::float8[], $4::int[], $5::float8[], $6::boolean[])
    as r (name, share, over_ms, minimum, pause_ms, alike) on r.name = c.name
  where c.open_until is null
  order by c.name
  for no key update of c skip locked
), counted as (
  select m.name, m.share, m.minimum, m.pause_ms, sum(e.n)::int as ended,
    coalesce(case when m.alike then max(e.n) filter (where e.code <> '') else sum(e.n) filter (where e.code <> '') end, 0)::int as failed,
    (array_agg(e.code order by e.n desc, e.code) filter (where e.code <> ''))[1] as code
  from mine m cross join lateral (
    select code, sum(n) as n from belfry.circuit_count where name = m.name and at > belfry.now() - belfry.span(m.over_ms)
      and (not m.alike or m.share < 1 or at > all (select s.at from belfry.circuit_count s where s.name = m.name and s.code = ''))
    group by code
  ) e
  group by m.name, m.share, m.minimum, m.pause_ms, m.alike
)
update belfry.circuit c set open_until = belfry.now() + belfry.span(d.pause_ms), opened_at = belfry.now(), ended = d.ended,
  failed = d.failed, code = d.code, probe_id = null, probe_failures = null
from counted d where c.name = d.name and d.failed > 0 and d.ended >= d.minimum and d.failed >= d.share * d.ended
returning c.name, c.ended, c.failed, c.code, belfry.ms(c.open_until) as until`);

/**
 * $1 names $2 patterns of codes $3 pauses in ms $4 times in ms that are counted. Of a circuit whose pause is over the probe is
 * judged by its row: chosen once, it ends once, and one that lost its worker or ended for another reason is followed by the next. What is
 * too old to count goes, and all of a circuit that closes: its old failures must not open it again.
 * Locks: circuits, then a held job of each, both SKIP LOCKED; then counts, which their workers only add to.
 */
export const judgeProbes = statement<CircuitMove>("circuit-probe")(`
with rule as materialized (
  select name, pattern, pause_ms, over_ms from unnest($1::text[], $2::text[], $3::float8[], $4::float8[])
    as r (name, pattern, pause_ms, over_ms)
), mine as materialized (
  select c.name, c.probe_id, c.probe_failures, r.pattern, r.pause_ms
  from belfry.circuit c left join rule r on r.name = c.name
  where c.open_until <= belfry.now() or (c.open_until is not null and r.name is null)
  order by c.name
  for no key update of c skip locked
), judged as materialized (
  select m.name, m.pause_ms, case
      when m.pattern is null then 'close'
      when j.id is null then 'probe'
      when j.state = 'SUCCESS' then 'close'
      when j.failures > m.probe_failures and j.error_code ~ m.pattern then 'open'
      when j.failures <> m.probe_failures or j.state > 'SUCCESS' or j.hold <> 'none' then 'probe'
    end as move
  from mine m left join belfry.job j on j.id = m.probe_id
), chosen as materialized (
  select d.name, j.id, j.failures from judged d cross join lateral (
    select id, failures from belfry.job where ${heldInOrder(circuitKey("d.name"))} limit 1
    for no key update skip locked
  ) j
  where d.move = 'probe'
), let_through as (
  update belfry.job set hold = 'none', held_on = '' where id = any(array(select id from chosen))
), moved as (
  update belfry.circuit c set probe_id = p.id, probe_failures = p.failures, page = 10,
    open_until = case d.move when 'open' then belfry.now() + belfry.span(d.pause_ms) when 'probe' then c.open_until end
  from judged d left join chosen p on p.name = d.name
  where c.name = d.name and (d.move in ('open', 'close') or p.id is not null)
  returning c.name, d.move
), forgotten as (
  delete from belfry.circuit_count k
  where k.name = any(array(select name from moved where move = 'close')) or not exists (
    select from rule r where r.name = k.name and k.at > belfry.now() - belfry.span(r.over_ms)
  )
)
select name, move from moved order by name`);

/**
 * Also what was put on hold while its circuit closed. The target has just come back: pages double from pass to pass, up to $1. Locks:
 * closed circuits, then held jobs in (due_at, id) order, SKIP LOCKED.
 */
export const releaseHeld = statement<{ id: string }>("circuit-release")(`
with closed as materialized (
  select name, page from belfry.circuit where open_until is null order by name for no key update skip locked
), mine as materialized (
  select j.id, c.name from closed c cross join lateral (
    select id from belfry.job where ${heldInOrder(circuitKey("c.name"))} limit c.page
    for no key update skip locked
  ) j
), paced as (
  update belfry.circuit c set page = least(c.page * 2, $1::int) where c.name = any(array(select name from mine))
)
update belfry.job set ${waitsAgain} where id = any(array(select id from mine))
returning id`);

/**
 * The next $2 times of the budgets $1, of which $3 is the share, $4 a minute at least. Locks: their rows, which it makes, in the order of
 * their names; it stands alone, while no job is locked.
 */
export const spaceRetries = statement<{ name: string; endsMs: number; everyMs: number }>("retry-space")(`
with rated as materialized (
  select a.name, a.n, 60000 / greatest($4::float8, a.share * (
    select coalesce(sum(k.n), 0) from belfry.circuit_count k where k.name = a.name and k.at > belfry.now() - interval '1 minute'
  )) as every_ms
  from unnest($1::text[], $2::int[], $3::float8[]) as a (name, n, share) order by a.name
), taken as (
  insert into belfry.circuit as c (name, retry_at) select name, belfry.now() + n * belfry.span(every_ms) from rated order by name
  on conflict (name) do update set retry_at = greatest(c.retry_at, belfry.now()) + (excluded.retry_at - belfry.now())
  returning c.name, c.retry_at
)
select t.name, belfry.ms_until(t.retry_at) as "endsMs", r.every_ms as "everyMs" from taken t join rated r on r.name = t.name`);
