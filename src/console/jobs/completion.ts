import { jobStates } from "./state.ts";
import { type Suggestion, suggestTerms } from "../filter/terms.ts";
import { words } from "../language/words.ts";

/** Values that exist in this system. */
export interface Completions {
  readonly kinds: readonly string[];
  readonly lanes: readonly string[];
  readonly errors: readonly string[];
  readonly schedules: readonly string[];
}

const times = ["<1h", "today", "last-night", "yesterday", ">1d"];

/** What the last word of the text may become. */
export function suggest(text: string, { kinds, lanes, errors, schedules }: Completions): readonly Suggestion[] {
  const { hints, fields } = words.jobs;
  return suggestTerms(text, fields, {
    state: [jobStates.map((state) => state.toLowerCase()), hints.state],
    kind: [kinds, hints.kind],
    lane: [lanes, hints.lane],
    error: [errors, hints.error],
    schedule: [schedules, hints.schedule],
    held: [["yes", "no"], hints.held],
    due: [["past", "<10m", "<1h", "<1d", ">1h"], hints.due],
    created: [times, hints.due],
    ended: [times, hints.due],
    took: [[">1s", ">10s", ">1m", "<1s"], hints.due],
    attempt: [[">1", "1"], words.labels.attempts],
  });
}
