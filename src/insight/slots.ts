import { isWaiting } from "../admission/order.ts";
import { z } from "zod";
import { insightLimits } from "./insight-limits.ts";
import { count, idText, maybeTime } from "./atoms.ts";
import { isoText, sqlQuery } from "./sql-query.ts";

/** A slot group that is in use or waited for, with who holds it. */
export const slotUse = z
  .object({
    key: z.string(),
    size: count,
    taken: count,
    waiting: count,
    /** Of a rate: how long a start spends one of them. */
    windowMs: count.nullable(),
    holders: z.array(z.object({ job: idText, kind: z.string().nullable(), since: maybeTime })),
  })
  .meta({ id: "SlotUse" });
export type SlotUseReply = z.infer<typeof slotUse>;

const taken = `(
  select count(*)::int as taken from belfry.slot s
  where s.key = g.key and s.n between 1 and g.size
    and (s.kept_for is not null or coalesce(s.free_from > belfry.now(), s.job_id is not null))
) t`;

const holders = (most: string): string => `(
  select jsonb_agg(jsonb_build_object('job', x.job_id::text, 'kind', x.kind, 'since', ${isoText("x.started_at")})) as holders
  from (
    select s.job_id, j.kind, j.started_at from belfry.slot s left join belfry.job j on j.id = s.job_id
    where s.key = g.key and s.n >= 1 and s.job_id is not null
      and (s.free_from is null or s.kept_for is not null or s.free_from > belfry.now())
    order by s.n limit ${most}
  ) x
) h`;

const { slotGroupsShownMax, slotHoldersShownMax, countRowsMax } = insightLimits;

/**
 * Slot groups by the beginning of their key: $1; of caps by key the keys that are in use. $2 groups, $3 holders each, $4 waiting ones
 * at most. Locks nothing.
 */
export const readSlots = sqlQuery("slots", {
  params: (prefix: string) => [prefix, slotGroupsShownMax, slotHoldersShownMax, countRowsMax],
  row: slotUse,
})(`
select g.key, g.size, t.taken, w.waiting, g.window_ms as "windowMs", coalesce(h.holders, '[]') as holders
from (
  (select key, size, window_ms from belfry.slot_group where starts_with(key, $1) and key !~ '^(cap|rate):[^#]*#$' order by key limit $2)
  union all
  select k.key, r.size, r.window_ms from (
    select distinct key from belfry.slot
    where (job_id is not null or free_from > belfry.now()) and n >= 1 and starts_with(key, $1) and key <> belfry.rule_of(key) order by key limit $2
  ) k join belfry.slot_group r on r.key = belfry.rule_of(k.key)
) g
cross join lateral ${taken}
cross join lateral (
  select count(*)::int as waiting from (
    select from belfry.job where held_on = g.key and ${isWaiting} limit $4
  ) held
) w
cross join lateral ${holders("$3")}
order by g.key`);

/**
 * The slots of the key $1, without the jobs that wait for it. $2 holders at most. Of a rate also when a job starts before which $3 wait: the
 * units come back one after the other, and each again a window later. Locks nothing.
 */
export const readSlot = sqlQuery("slot", {
  params: ({ key, before }: { readonly key: string; readonly before: number }) => [key, slotHoldersShownMax, before],
  row: slotUse.omit({ waiting: true }).extend({ nextAt: z.number().nullable() }),
})(`
select g.key, g.size, t.taken, coalesce(h.holders, '[]') as holders, g.window_ms as "windowMs", case when g.window_ms is not null then (
    select belfry.ms(at + ($3::int / g.size) * belfry.span(g.window_ms)) from (
      select greatest(s.free_from, belfry.now()) + belfry.span(case when s.kept_for is null then 0 else g.window_ms end) as at
      from generate_series(1, g.size) as n left join belfry.slot s on s.key = g.key and s.n = n.n
    ) unit order by at limit 1 offset $3::int % g.size
  ) end as "nextAt"
from (select $1::text as key, size, window_ms from belfry.slot_group where key = belfry.rule_of($1::text)) g
cross join lateral ${taken} cross join lateral ${holders("$2")}`);
