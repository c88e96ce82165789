import { statement } from "../statement.ts";

/** $1 callers $2 actions $3 targets $4 statuses $5 details $6 traces. Locks only new rows. */
export const writeAudits = statement<never>(
  "audit-write",
  `
insert into belfry.audit (at, caller, action, target, status, detail, trace)
select belfry.now(), v.caller, v.action, v.target, v.status, v.detail, v.trace
from unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::jsonb[], $6::text[])
  as v (caller, action, target, status, detail, trace)`,
);

/** Newest first. $1 before id or null $2 limit $3 a path and what lies below it, or null $4 looked through for it. Locks nothing. */
export const readAudits = statement<{
  id: string;
  at: number;
  caller: string;
  action: string;
  target: string;
  status: number;
  detail: unknown;
  trace: string;
}>(
  "audits",
  `
select id, belfry.ms(at) as at, caller, action, target, status, detail, trace from (
  select * from belfry.audit
  where $1::bigint is null or id < $1::bigint
  order by id desc limit case when $3::text is null then $2::int else $4::int end
) newest
where $3::text is null or target = $3::text or starts_with(target, $3::text || '/')
order by id desc limit $2::int`,
);
