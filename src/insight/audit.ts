import { z } from "zod";
import { insightLimits } from "./insight-limits.ts";
import { idText, time } from "./atoms.ts";
import { isoText, sqlQuery } from "./sql-query.ts";

export const audit = z.object({
  id: idText,
  at: time,
  caller: z.string(),
  /** `POST /jobs/:id/cancel`. */
  action: z.string(),
  /** The requested path. */
  target: z.string(),
  status: z.int(),
  /** The request. */
  detail: z.unknown(),
  /** Of the request: its answer names it as well. */
  trace: z.string(),
});

/** The detail as JSON. */
export type AuditRow = Readonly<Omit<z.infer<typeof audit>, "id" | "at" | "detail">> & { readonly detail: string };

/** Writes who changed what. Locks only new rows. */
export const writeAudits = sqlQuery("audit-write", {
  params: (rows: readonly AuditRow[]) =>
    (["caller", "action", "target", "status", "detail", "trace"] as const).map((name) => rows.map((row) => row[name])),
})(`
insert into belfry.audit (at, caller, action, target, status, detail, trace)
select belfry.now(), v.caller, v.action, v.target, v.status, v.detail, v.trace
from unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::jsonb[], $6::text[])
  as v (caller, action, target, status, detail, trace)`);

/**
 * Newest first, below the id `before` and between `createdFrom` and `createdTo`. Of a caller, or of some targets and what lies below their paths: among the
 * newest 20,000 of these. Locks nothing.
 */
export const readAudits = sqlQuery("audits", {
  params: (of: {
    before?: string | undefined;
    limit: number;
    targets?: readonly string[] | undefined;
    createdFrom?: number | undefined;
    createdTo?: number | undefined;
    caller?: string | undefined;
  }) => [
    of.before ?? null,
    of.limit,
    of.targets ?? null,
    insightLimits.auditsSearchedMax,
    of.createdTo === undefined ? null : new Date(of.createdTo),
    of.caller ?? null,
    of.createdFrom,
  ],
  row: audit,
})(`
select id, ${isoText("at")} as at, caller, action, target, status, detail, trace from (
  select * from belfry.audit
  where ($1::bigint is null or id < $1::bigint) and ($5::timestamptz is null or at < $5)
  order by id desc limit case when $3::text[] is null and $6::text is null then $2::int else $4::int end
) newest
where ($7::float8 is null or at >= belfry.at($7::float8)) and ($6::text is null or caller = $6) and ($3::text[] is null
  or exists (select from unnest($3::text[]) as asked (path) where target = asked.path or starts_with(target, asked.path || '/')))
order by id desc limit $2::int`);
