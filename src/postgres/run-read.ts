import type { InRun } from "../machine/run.ts";
import type { Session } from "./session.ts";
import { readInRuns } from "./sql/read.ts";

/** What jobs know about their runs, by job id. Outputs are final, so they are read without a lock. */
export async function inRuns<Id extends string>(session: Session, ids: readonly Id[]): Promise<ReadonlyMap<Id, InRun>> {
  if (ids.length === 0) return new Map();
  const rows = await session.run(readInRuns, [ids]);
  return new Map(rows.map(({ jobId, ...run }) => [jobId as string as Id, run]));
}
