import type { BulkAction } from "../../../core/ports/bulk.ts";
import { statement } from "../statement.ts";
import type { BulkCanary } from "../../../core/ports/bulk.ts";

export interface BulkRow {
  readonly id: string;
  readonly action: BulkAction;
  readonly filter: unknown;
  readonly caller: string;
  readonly state: "RUNNING" | "DONE" | "STOPPED";
  readonly next: string;
  readonly matched: number;
  readonly is_more: boolean;
  readonly pace_ms: number;
  readonly due_at: number;
  readonly canary: "none" | BulkCanary["state"];
  readonly canaries: string[];
  readonly changed: number;
  readonly taken_along: number;
  readonly refused: number;
  readonly created_at: number;
  readonly updated_at: number;
  readonly finished_at: number | null;
}

const shown = `id, action, filter, caller, state, next, matched, is_more, pace_ms, belfry.ms(due_at) as due_at, canary, canaries::text[] as canaries, changed, taken_along, refused,
  belfry.ms(created_at) as created_at, belfry.ms(updated_at) as updated_at, belfry.ms(finished_at) as finished_at`;

/** Jobs that are inserted later are not changed. $1 action $2 filter $3 caller $4 matched $5 more $6 pace $7 with a canary. Locks the new row. */
export const createBulk = statement<BulkRow>(
  "bulk-create",
  `
insert into belfry.bulk (action, filter, caller, state, newest, next, matched, is_more, pace_ms, canary, due_at, created_at, updated_at)
select $1, $2::jsonb, $3, 'RUNNING', n.id, n.id, $4, $5, $6, case when $7::boolean then 'wanted' else 'none' end, belfry.now(), belfry.now(), belfry.now()
from (select coalesce((select id from belfry.job order by id desc limit 1), 0) + 1 as id) n
returning ${shown}`,
);

/** Newest first. $1 id or null $2 before this id or null $3 limit. Locks nothing. */
export const readBulks = statement<BulkRow>(
  "bulks",
  `
select ${shown} from belfry.bulk
where ($1::bigint is null or id = $1::bigint) and ($2::bigint is null or id < $2::bigint) order by id desc limit $3`,
);

/** Of each whose canaries have all ended: goes on if all succeeded, else stops. Locks those rows, SKIP LOCKED. */
export const judgeCanaries = statement<{ id: string }>(
  "bulk-judge",
  `
with ended as materialized (
  select b.id, not exists (
    select from unnest(b.canaries) c left join belfry.job j on j.id = c where j.state is distinct from 'SUCCESS'
  ) as passed
  from belfry.bulk b
  where b.state = 'RUNNING' and b.canary = 'out'
    and not exists (select from belfry.job j where j.id = any(b.canaries) and j.finished_at is null)
  for no key update of b skip locked
)
update belfry.bulk b set canary = case when passed then 'passed' else 'failed' end, state = case when passed then b.state else 'STOPPED' end,
  due_at = belfry.now(), updated_at = belfry.now(), finished_at = case when not passed then belfry.now() end
from ended e where b.id = e.id
returning b.id`,
);

/** These jobs go first and alone. $1 id $2 owner $3 ids $4 changed $5 taken along. Locks that row. */
export const sendCanaries = statement<{ id: string }>(
  "bulk-canaries",
  `
update belfry.bulk set canary = 'out', canaries = $3::bigint[], owner = null, changed = changed + $4::int,
  taken_along = taken_along + $5::int, updated_at = belfry.now()
where id = $1::bigint and owner = $2 and state = 'RUNNING'
returning id`,
);

/** Gives the oldest one that may go on within $3 ms to owner $1 alone for $2 ms. Locks that row, SKIP LOCKED. */
export const takeBulk = statement<BulkRow>(
  "bulk-take",
  `
update belfry.bulk set owner = $1, updated_at = belfry.now()
where id = (
  select id from belfry.bulk
  where state = 'RUNNING' and canary <> 'out' and (pace_ms = 0 or due_at <= belfry.now() + belfry.span($3::float8))
    and (owner is null or owner = $1 or updated_at < belfry.now() - belfry.span($2::float8))
  order by id limit 1
  for no key update skip locked
)
returning ${shown}`,
);

/** One page is done. $1 id $2 owner $3 next $4 changed $5 taken along $6 refused $7 is it the last. Locks that row. */
export const advanceBulk = statement<{ id: string }>(
  "bulk-advance",
  `
update belfry.bulk set next = $3::bigint, changed = changed + $4::int, taken_along = taken_along + $5::int,
  refused = refused + $6::int, updated_at = belfry.now(), due_at = greatest(due_at, belfry.now()) + $4::int * belfry.span(pace_ms), state = case when $7::boolean then 'DONE' else state end,
  finished_at = case when $7::boolean then belfry.now() end
where id = $1::bigint and owner = $2 and state = 'RUNNING'
returning id`,
);

/** Some times of a backfill are done. $1 id $2 owner $3 changed $4 refused $5 was it the last. Locks that row. */
export const advanceBackfill = statement<{ id: string }>(
  "bulk-backfill",
  `
update belfry.bulk set changed = changed + $3::int, refused = refused + $4::int, updated_at = belfry.now(),
  state = case when $5::boolean then 'DONE' else state end, finished_at = case when $5::boolean then belfry.now() end
where id = $1::bigint and owner = $2 and state = 'RUNNING'
returning id`,
);

/** Locks that row. */
export const stopBulk = statement<{ id: string }>(
  "bulk-stop",
  `
update belfry.bulk set state = 'STOPPED', finished_at = belfry.now(), updated_at = belfry.now()
where id = $1::bigint and state = 'RUNNING'
returning id`,
);
