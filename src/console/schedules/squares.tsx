import type { OccurrenceEndReply } from "../../insight/occurrence-ends.ts";
import type { ScheduleOutcomeReply } from "../../api/shape/schedule-outcome.ts";
import { Legend } from "../parts/index.ts";
import { fully } from "../time.ts";
import { words } from "../language/words.ts";
import { reasonText } from "../language/spoken.ts";

export type EndWord = OccurrenceEndReply["result"] | "unknown";

const { decisions, ends } = words.occurrences;

type Glance = ScheduleOutcomeReply["last"][number];

/** A time with its decision and the end of its job or run. */
export interface SquareFacts extends Pick<Glance, "outcome" | "reason" | "job" | "result"> {
  readonly at: string;
  readonly error?: string | null;
}

/** Null for a time that never gets a job. */
export const endOfSquare = ({ job, result }: Pick<SquareFacts, "job" | "result">): EndWord | null =>
  job === null ? null : (result ?? "unknown");

/**
 * The last times, the oldest first: the shape shows the decision, the colour the end. What one of them was is written when
 * the pointer comes: most of the thousands are never pointed at.
 */
export function Squares({ last, zone }: { readonly last: readonly SquareFacts[]; readonly zone: string }) {
  const explain = ({ target }: PointerEvent): void => {
    const facts = target instanceof HTMLElement ? last[Number(target.dataset["n"] ?? -1)] : undefined;
    if (facts !== undefined) (target as HTMLElement).title = squareTitle(facts, zone);
  };
  return (
    <span class="squares" role="img" aria-label={summaryOf(last)} onPointerOver={explain}>
      {last.map((each, index) => <i key={index} class={squareClass(each)} data-n={index} />).toReversed()}
    </span>
  );
}

export function squareClass(facts: Pick<SquareFacts, "outcome" | "job" | "result">): string {
  const end = endOfSquare(facts);
  return `square square-${facts.outcome.toLowerCase()}${end === null ? "" : ` end-${end}`}`;
}

function squareTitle({ at, outcome, reason, error, ...rest }: SquareFacts, zone: string): string {
  const why = reason === null ? "" : `: ${reasonText(reason)}`;
  const end = endOfSquare(rest);
  const ended = end === null ? "" : `, ${ends[end]}${error == null ? "" : ` (${error})`}`;
  return `${decisions[outcome]}${why}${ended}\n${fully(Date.parse(at), zone)}`;
}

function summaryOf(last: readonly SquareFacts[]): string {
  if (last.length === 0) return words.occurrences.none;
  const counts = Map.groupBy(last, (each) => {
    const end = endOfSquare(each);
    return end === null ? decisions[each.outcome].toLowerCase() : ends[end];
  });
  return words.occurrences.last(
    last.length,
    [...counts].map(([word, all]) => words.occurrences.count(all.length, word)).join(", "),
  );
}

/** What shapes and colours mean. */
export const SquareLegend = () => (
  <Legend
    of={[
      ...(["succeeded", "failed", "open", "stopped"] as const).map((end) => {
        return { look: `square square-fired end-${end}`, text: ends[end] };
      }),
      ...(["CAUGHT_UP", "COALESCED", "SKIPPED"] as const).map((outcome) => {
        return { look: `square square-${outcome.toLowerCase()}`, text: decisions[outcome].toLowerCase() };
      }),
    ]}
  />
);
