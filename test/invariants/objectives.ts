import { isFinal } from "../../src/machine/state.ts";
import type { EventFact, Evidence, OccurrenceFact, Violation } from "./evidence.ts";

/** How many of the times that were due after `from` and until `until` count, and missed what is promised. */
export interface ObjectiveFact {
  readonly scheduleId: string;
  readonly promised: "on time" | "ends within";
  readonly withinMs: number;
  readonly from: number;
  readonly until: number;
  readonly times: number;
  readonly missed: number;
}

const uncounted = ["paused", "disabled", "excluded", "dst-gap", "deleted", "withdrawn", "canceled"];

/** C14: of the times of a schedule as many count and missed as its jobs' own events say. */
export function* objectives({ objectives: facts = [], occurrences, events }: Evidence): Generator<Violation> {
  if (facts.length === 0) return;
  const moves = Map.groupBy(events, ({ jobId }) => jobId);
  const times = Map.groupBy(occurrences, ({ scheduleId }) => scheduleId);
  for (const fact of facts) {
    const counted = (times.get(fact.scheduleId) ?? []).filter((time) => isCounted(time, fact, moves));
    const missed = counted.filter((time) => isMissed(time, fact, moves)).length;
    if (counted.length === fact.times && missed === fact.missed) continue;
    const { scheduleId, promised, withinMs } = fact;
    yield {
      invariant: "C14",
      detail: `${scheduleId}, ${promised} ${withinMs} ms: ${fact.missed} of ${fact.times} missed instead of ${missed} of ${counted.length}`,
    };
  }
}

type Moves = ReadonlyMap<string, readonly EventFact[]>;

function isCounted(time: OccurrenceFact, { promised, from, until }: ObjectiveFact, moves: Moves): boolean {
  if (time.nominalAt <= from || time.nominalAt > until) return false;
  if (time.outcome === "SKIPPED") return !uncounted.includes(time.reason ?? "");
  const isLooked = promised === "ends within" || time.outcome === "CAUGHT_UP";
  const last = moves.get(time.jobId ?? "")?.at(-1);
  return !(isLooked && last !== undefined && /^(CANCELED|SKIPPED)$/.test(last.to) && last.reason === "canceled");
}

/** A time without a job, or whose job did not begin or end in time. */
function isMissed({ jobId, nominalAt }: OccurrenceFact, { promised, withinMs }: ObjectiveFact, moves: Moves): boolean {
  const own = moves.get(jobId ?? "") ?? [];
  const first = own.find(({ to }) => to === "RUNNING");
  const last = own.findLast(({ to }) => isFinal(to));
  const kept = promised === "on time" ? first : last === own.at(-1) && last?.to === "SUCCESS" ? last : undefined;
  return kept === undefined || Math.floor(kept.at - nominalAt) > withinMs;
}
