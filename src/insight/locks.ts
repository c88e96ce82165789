import { z } from "zod";
import { insightLimits } from "./insight-limits.ts";
import { maybeTime, time } from "./atoms.ts";
import { isoText, sqlQuery } from "./sql-query.ts";

/** What Postgres knows about a lock of the lock store. */
export const fence = z.object({
  name: z.string(),
  /** The number of the newest holder: only its writes are accepted. */
  fence: z.number().nullable(),
  installedAt: maybeTime,
  /** Set while the lock store is away and this row is the lock. */
  fallback: z.object({ owner: z.string(), leaseUntil: time }).nullable(),
});
export type FenceReply = z.infer<typeof fence>;

/** Locks nothing. */
export const readFences = sqlQuery("fences", {
  params: () => [insightLimits.locksShownMax],
  row: fence,
})(`
select f.name, f.token::float8 as fence, ${isoText("f.installed_at")} as "installedAt",
  case when s.name is not null then jsonb_build_object('owner', s.owner, 'leaseUntil', ${isoText("s.lease_until")}) end as fallback
from belfry.lock_fence f
left join belfry.fallback_lock s on s.name = f.name and s.owner is not null and s.lease_until > belfry.clock()
order by f.name limit $1`);

/** The last pass of which every step succeeded, with its age by real time. */
export const lastPass = z.object({ at: time, ageMs: z.number().min(0), isLate: z.boolean() });

/** Under the lock $1; late when it is older than $2 milliseconds. Locks nothing. */
export const readPassed = sqlQuery("fence-read-passed", {
  params: (lock: string) => [lock, insightLimits.passAgeMsMax],
  row: lastPass,
})(`
select ${isoText("passed_at")} as at, round(age)::float8 as "ageMs", age > $2::float8 as "isLate"
from belfry.lock_fence cross join lateral (select greatest(0, extract(epoch from belfry.clock() - passed_at) * 1000) as age) a
where name = $1 and passed_at is not null`);
