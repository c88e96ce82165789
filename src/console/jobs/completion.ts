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
  const { labels } = words;
  return suggestTerms(text, words.jobs.fields, {
    state: [jobStates.map((state) => state.toLowerCase()), labels.state],
    kind: [kinds, labels.kind],
    lane: [lanes, labels.lane],
    error: [errors, labels.error],
    schedule: [schedules, labels.schedule],
    held: [["yes", "no"], words.lanes.columns.held],
    due: [["past", "<10m", "<1h", "<1d", ">1h"], labels.due],
    created: [times, words.job.created],
    ended: [times, labels.ended],
    took: [[">1s", ">10s", ">1m", "<1s"], labels.took],
    attempt: [[">1", "1"], labels.attempts],
  });
}
