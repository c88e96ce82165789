import type { JobId, RunId } from "../../../src/machine/job.ts";
import { scheduleLimits } from "../../../src/machine/schedule.ts";
import type { Replaced } from "../../../src/machine/slot-store.ts";
import { isFinal } from "../../../src/machine/state.ts";
import type { JobRow, SlotRow } from "./rows.ts";
import { groupOf, slotsOf } from "./slots.ts";
import { idOf, type Tables } from "./tables.ts";

/** What later times replace under `cancel-running`: of the jobs that the statement `replaced` looks at. */
export function replaced(t: Tables, keys: readonly string[] | "all", claimed: readonly JobId[] = []): Replaced[] {
  const held = Map.groupBy(
    t.inStates("PENDING", "RETRY_WAIT").filter((row) => !row.blocked),
    (row) => row.heldOn ?? "",
  );
  const asked = keys === "all" ? [...held.keys()].filter((key) => key.startsWith("overlap:")) : [...new Set(keys)];
  return asked
    .filter((key) => t.groups.get(key)?.reason === "replaced" && groupOf(t, key).size > 0)
    .toSorted()
    .flatMap((key) => {
      const holders = slotsOf(t, key).filter(isHeld);
      const ids = [...holders.map(({ jobId }) => jobId), ...(held.get(key) ?? []).map(({ id }) => id)];
      const rows = rowsOf(t, [...ids, ...timesOf(t, key.slice("overlap:".length)), ...claimed.map(Number)], key);
      const isHolder = (row: JobRow): boolean => holders.some(({ jobId }) => jobId === row.id);
      const latest = rows.findLast((row) => row.state === "RUNNING" || isHolder(row) || isRefused(row));
      if (latest === undefined) return [];
      const earlier = rows.slice(0, rows.indexOf(latest));
      const passed = earlier.filter((row) => isHolder(row));
      const runs = [...t.runs.values()].filter((run) => passed.some(({ id }) => id === run.starterId));
      const jobs = earlier.filter((row) => !isFinal(row.state)).toSorted((a, b) => a.id - b.id);
      return earlier.length === 0
        ? []
        : {
            schedule: key.slice("overlap:".length),
            at: orderOf(latest),
            jobs: jobs.map(idOf),
            runs: runs.filter(({ state }) => state === "RUNNING").map(({ id }) => String(id) as RunId),
          };
    });
}

const orderOf = (row: JobRow): number => row.effectiveAt ?? row.scheduledFor ?? row.createdAt;
const isHeld = ({ jobId, freeFrom, keptFor }: SlotRow): boolean =>
  jobId !== null && (freeFrom === null || keptFor !== null);
const isRefused = ({ state, hold, heldOn }: JobRow): boolean =>
  !isFinal(state) && hold === "slot" && heldOn?.startsWith("turn:") !== true;

/** By their times, the earliest first. */
const rowsOf = (t: Tables, ids: readonly (number | null)[], key: string): JobRow[] =>
  [...new Set(ids)]
    .flatMap((id) => (id === null ? [] : (t.jobs.get(id) ?? [])))
    .filter(({ slotKeys }) => slotKeys.includes(key) && !slotKeys.includes(key.replace("overlap:", "backfill:")))
    .toSorted((a, b) => orderOf(a) - orderOf(b) || a.id - b.id);

const timesOf = (t: Tables, id: string): (number | null)[] =>
  [...t.occurrences.values()]
    .filter((row) => row.scheduleId === id && row.nominalAt <= t.now())
    .toSorted((a, b) => b.nominalAt - a.nominalAt)
    .slice(0, scheduleLimits.replacedMax)
    .map(({ jobId }) => jobId);
