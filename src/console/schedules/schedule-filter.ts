import type { ScheduleOutcomeReply } from "../../api/shape/schedule-outcome.ts";
import { type Filter, parseTerms, type Suggestion, suggestTerms, unique } from "../filter/terms.ts";
import { words } from "../language/words.ts";

/** Fields of the filter of schedules, as the API calls them. */
export type OutcomeQuery = Readonly<Record<string, string>>;

export const scheduleStateNames = ["active", "failing", "late", "paused", "off", "ended"] as const;

const meanings: Readonly<Record<string, string>> = words.schedules.fields;

/** Words without a field are looked for in the id, the kind and the app. */
export function parseScheduleFilter(text: string): { readonly query: OutcomeQuery } & Pick<Filter, "problems"> {
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
  if (field === "late" && !/^>\d{1,6}(ms|s|m|h|d)$/.test(value)) return words.filter.notSo(field, value, "late:>5s");
  return null;
}

/** What the last word of the text may become, with values that the loaded schedules have. */
export function suggestForSchedules(text: string, loaded: readonly ScheduleOutcomeReply[]): readonly Suggestion[] {
  const { labels, upcoming, schedules } = words;
  return suggestTerms(text, meanings, {
    state: [scheduleStateNames, labels.state],
    kind: [unique(loaded.map(({ kind }) => kind)), labels.kind],
    app: [unique(loaded.map(({ app }) => app)), upcoming.app],
    zone: [unique(loaded.map(({ timezone }) => timezone)), schedules.form.zone],
    late: [[">1s", ">10s", ">1m"], labels.lateness],
  });
}
