import type { ShownOccurrence } from "../shape.ts";
import { fully } from "../time.ts";
import { reasonText } from "../words.ts";

export const outcomeWords: Readonly<Record<ShownOccurrence["outcome"], string>> = {
  PLANNED: "Planned",
  FIRED: "Fired",
  CAUGHT_UP: "Caught up",
  COALESCED: "Coalesced",
  SKIPPED: "Skipped",
};

/** The last occurrences, the oldest first: each outcome has a shape and a colour, and its reason under the pointer. */
export const Squares = ({ occurrences }: { readonly occurrences: readonly ShownOccurrence[] }) => (
  <span class="squares" role="img" aria-label={summary(occurrences)}>
    {occurrences.toReversed().map((each) => (
      <i key={`${each.localTime}${each.fold}${each.timezone}`} class={squareClass(each)} title={squareTitle(each)} />
    ))}
  </span>
);

export const squareClass = ({ outcome }: ShownOccurrence): string => `square square-${outcome.toLowerCase()}`;

export function squareTitle({ nominalAt, timezone, outcome, reason }: ShownOccurrence): string {
  const why = reason === null ? "" : `: ${reasonText(reason)}`;
  return `${outcomeWords[outcome]}${why}\n${fully(Date.parse(nominalAt), timezone)}`;
}

function summary(occurrences: readonly ShownOccurrence[]): string {
  const counts = Map.groupBy(occurrences, ({ outcome }) => outcome);
  const parts = [...counts].map(([outcome, all]) => `${all.length} ${outcomeWords[outcome].toLowerCase()}`);
  return parts.length === 0 ? "No occurrences yet" : `Last ${occurrences.length}: ${parts.join(", ")}`;
}
