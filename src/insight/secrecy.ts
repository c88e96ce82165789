import { z } from "zod";
import type { Json } from "../machine/job.ts";
import { type Database, sqlQuery } from "./sql-query.ts";

/** What a kind marked as sensitive when a release with it was installed. */
export interface KeptMarks {
  readonly kind: string;
  /** JSON Schema, of which only what leads to marks is left; `{}`: nothing was marked. */
  readonly marks: Json;
}

/**
 * Adds to what is kept: a release that drops a mark does not take it from what was written before.
 * Locks only new rows, in the order of their kinds: two installations wait for each other in one order.
 */
export const writeMarks = sqlQuery("marks-write", {
  params: (rows: readonly KeptMarks[]) => [
    rows.map(({ kind }) => kind),
    rows.map(({ marks }) => JSON.stringify(marks)),
  ],
})(`
insert into belfry.sensitive (kind, marks)
select v.kind, v.marks from unnest($1::text[], $2::jsonb[]) as v (kind, marks) order by v.kind
on conflict do nothing`);

/** Locks nothing. */
export const readMarks = sqlQuery("marks", { row: z.object({ kind: z.string(), marks: z.json() }) })(
  "\nselect kind, marks from belfry.sensitive order by kind",
);

/** The stage's key, drawn when there is none; no row when another session draws it now. Locks only a new row. */
export const readStageKey = sqlQuery("stage-key", { row: z.object({ key: z.instanceof(Uint8Array) }) })(`
with made as (
  insert into belfry.stage_key (key)
  select decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex')
  where not exists (select from belfry.stage_key)
  on conflict do nothing
  returning key
)
select key from belfry.stage_key union all select key from made`);

/** 32 bytes that never leave a process: no guess can be compared with an HMAC under them. */
export async function stageKey(insight: Database): Promise<Uint8Array> {
  // The second look finds what another process drew at the same time.
  const [row] = [...(await insight.run(readStageKey, {})), ...(await insight.run(readStageKey, {}))];
  if (row === undefined) throw new Error("belfry.stage_key has no row and takes none");
  return row.key;
}
