import { statement } from "../statement.ts";

export interface MappedTaskRow {
  readonly id: string;
  readonly name: string | null;
  readonly state: string;
  readonly not_taken: boolean;
  readonly preds_open: number;
  readonly attempt: number;
  readonly error_code: string | null;
  readonly started_at: number | null;
  readonly finished_at: number | null;
}

/** The jobs of run $1 in the order they were written, without what is large. $2 at most. Locks nothing. */
export const readRunMap = statement<MappedTaskRow>(
  "run-map",
  `
select id, coalesce(task, key) as name, state, not_taken, preds_open, attempt, error_code, belfry.ms(started_at) as started_at,
  belfry.ms(finished_at) as finished_at
from belfry.job where run_id = $1::bigint order by id limit $2`,
);

/** The edges to the first $2 jobs of run $1: the first $3 of each, $4 in all. Locks nothing. */
export const readRunEdges = statement<{ from_id: string; to_id: string }>(
  "run-map-edges",
  `
select e.from_id, e.to_id
from (select id from belfry.job where run_id = $1::bigint order by id limit $2) j
cross join lateral (select from_id, to_id from belfry.edge where to_id = j.id order by from_id limit $3) e
order by j.id, e.from_id limit $4`,
);
