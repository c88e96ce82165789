import { parseTerms, type Suggestion, suggestTerms } from "../filter/terms.ts";
import { words } from "../language/words.ts";

/** Fields of the filter of schedules, as the API calls them. */
export type OutcomeQuery = Readonly<Record<string, string>>;

export interface ScheduleFilter {
  readonly query: OutcomeQuery;
  /** What cannot be used, in words. One of them, and nothing matches. */
  readonly problems: readonly string[];
}

export const scheduleStateNames = ["active", "failing", "late", "paused", "off", "ended"] as const;

const meanings: Readonly<Record<string, string>> = words.schedules.fields;

/** Words without a field are looked for in the id, the kind and the app. */
export function parseScheduleFilter(text: string): ScheduleFilter {
  const { terms, words: plain, problems } = parseTerms(text, meanings, problemOf);
  const query = Object.fromEntries(
    terms.map(({ field, value }) => {
      if (field === "late") return ["lateOver", value.slice(1)];
      return [field, field === "state" ? value.toLowerCase() : value];
    }),
  );
  return { query: plain.length === 0 ? query : { ...query, text: plain.join(" ") }, problems };
}

function problemOf(field: string, value: string): string | null {
  if (field === "state" && !scheduleStateNames.some((name) => name === value.toLowerCase()))
    return words.filter.noState(value, scheduleStateNames.join(", "));
  if (field === "late" && !/^>\d{1,6}(ms|s|m|h|d)$/.test(value)) return words.filter.badLate(value);
  return null;
}

/** Values that the loaded schedules have. */
export interface KnownValues {
  readonly kinds: readonly string[];
  readonly apps: readonly string[];
  readonly zones: readonly string[];
}

/** What the last word of the text may become. */
export const suggestForSchedules = (text: string, { kinds, apps, zones }: KnownValues): readonly Suggestion[] =>
  suggestTerms(text, meanings, {
    state: [scheduleStateNames, "state"],
    kind: [kinds, "kind"],
    app: [apps, "app"],
    zone: [zones, "zone"],
    late: [[">1s", ">10s", ">1m"], "late"],
  });
