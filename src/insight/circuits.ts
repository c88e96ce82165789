import { z } from "zod";
import { circuitKey } from "../admission/circuit.ts";
import type { JobId } from "../machine/job.ts";
import { sqlQuery } from "./sql-query.ts";

/**
 * Ends the pause of the circuit that holds job $1, or of all: the next pass lets one job through. Locks: their rows, by name, waiting.
 */
export const endPause = sqlQuery("circuit-end-pause", {
  params: (job: JobId | null) => [job],
  row: z.object({ name: z.string() }),
})(`
with mine as materialized (
  select name from belfry.circuit c where c.open_until > belfry.now()
    and ($1::bigint is null or ${circuitKey("c.name")} = (select held_on from belfry.job where id = $1::bigint))
  order by name
  for no key update
)
update belfry.circuit c set open_until = belfry.now() from mine m where c.name = m.name returning c.name`);
