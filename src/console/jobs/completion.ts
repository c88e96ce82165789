import { jobStates } from "./state.ts";
import { fieldsLike, lastWord, quote, type Suggestion } from "../filter/terms.ts";
import { words } from "../language/words.ts";

/** Values that exist in this system. */
export interface Completions {
  readonly kinds: readonly string[];
  readonly lanes: readonly string[];
  readonly errors: readonly string[];
  readonly schedules: readonly string[];
}

const suggestionsMax = 8;

/** What the last word of the text may become. */
export function suggest(text: string, known: Completions): readonly Suggestion[] {
  const word = lastWord(text);
  const colon = word.indexOf(":");
  const found =
    colon < 0 ? fieldsLike(word, words.jobs.fields) : valuesLike(word.slice(0, colon), word.slice(colon + 1), known);
  return found.filter((each) => each.word !== word).slice(0, suggestionsMax);
}

function valuesLike(field: string, start: string, known: Completions): readonly Suggestion[] {
  const before = start.slice(0, start.lastIndexOf(",") + 1);
  const typed = start.slice(before.length).replace(/^"/, "").toLowerCase();
  const [values, hint] = valuesOf(field.toLowerCase(), known);
  return values
    .filter((value) => value.toLowerCase().includes(typed))
    .map((value) => ({ word: `${field}:${before}${quote(value)}`, hint }));
}

function valuesOf(
  field: string,
  { kinds, lanes, errors, schedules }: Completions,
): readonly [readonly string[], string] {
  const { hints } = words.jobs;
  const known: Readonly<Record<string, readonly [readonly string[], string]>> = {
    state: [jobStates.map((state) => state.toLowerCase()), hints.state],
    kind: [kinds, hints.kind],
    lane: [lanes, hints.lane],
    error: [errors, hints.error],
    schedule: [schedules, hints.schedule],
    held: [["yes", "no"], hints.held],
    due: [["past", "<10m", "<1h", "<1d", ">1h"], hints.due],
    created: [["<1h", "today", "last-night", "yesterday", ">1d"], hints.due],
    ended: [["<1h", "today", "last-night", "yesterday", ">1d"], hints.due],
    took: [[">1s", ">10s", ">1m", "<1s"], hints.due],
    attempt: [[">1", "1"], words.labels.attempts],
  };
  return known[field] ?? [[], ""];
}
