import type { KeptMarks } from "../../../core/ports/secrecy.ts";
import { statement } from "../statement.ts";

/** $1 kinds $2 marks. Locks only new rows, in the order of their kinds: two installations wait for each other in one order. */
export const writeMarks = statement<never>(
  "marks-write",
  `
insert into belfry.sensitive (kind, marks)
select v.kind, v.marks from unnest($1::text[], $2::jsonb[]) as v (kind, marks) order by v.kind
on conflict do nothing`,
);

/** Locks nothing. */
export const readMarks = statement<KeptMarks>("marks", "\nselect kind, marks from belfry.sensitive order by kind");

/** The stage's key, drawn when there is none; no row when another session draws it now. Locks only a new row. */
export const readStageKey = statement<{ key: Uint8Array }>(
  "stage-key",
  `
with made as (
  insert into belfry.stage_key (key)
  select decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex')
  where not exists (select from belfry.stage_key)
  on conflict do nothing
  returning key
)
select key from belfry.stage_key union all select key from made`,
);
