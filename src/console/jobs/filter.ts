/** The text of the filter bar. It is the whole state of the list, so it is also what stands in the address. */
import { parseDuration } from "../../calendar/duration.ts";
import { edgesOf, rangeFields } from "../filter/range.ts";
import { type Filter, parseTerms } from "../filter/terms.ts";
import { type JobState, jobStates } from "./state.ts";
import { words } from "../language/words.ts";

export const parseFilter = (text: string): Filter => parseTerms(text, words.jobs.fields, problemOf);

function problemOf(field: string, value: string): string | null {
  if (field === "state" && statesOf(value) === null) return words.filter.noState(value, stateList);
  if (field === "id" && !/^\d{1,18}$/.test(value)) return words.filter.noNumber(value);
  if (field === "held" && !Object.hasOwn(heldValues, value))
    return words.filter.notSo(field, value, "held:yes, held:no");
  return ranges[field]?.(value, 0) === null ? words.filter.badRange(field, value) : null;
}

const stateList = jobStates.map((state) => state.toLowerCase()).join(", ");

/** Fields of the filter, as the API calls them. */
export type JobQuery = Readonly<Record<string, string>>;

/** What the API is asked for. Times are relative to `now`, so that an address means the same tomorrow. */
export function queryOf({ terms, words }: Filter, now: number): JobQuery {
  const query: Record<string, string> = words.length === 0 ? {} : { text: words.join(" ") };
  for (const { field, value } of terms) {
    if (field === "state") query["state"] = (statesOf(value) ?? []).join(",");
    else if (field in ranges) Object.assign(query, ranges[field]?.(value, now));
    else if (field === "held") query["held"] = heldValues[value] ?? "";
    else query[field] = value;
  }
  return query;
}

export function statesOf(value: string): readonly JobState[] | null {
  const named = value.toUpperCase().split(",");
  const known = jobStates.filter((state) => named.includes(state));
  return known.length === named.length ? known : null;
}

const heldValues: Readonly<Record<string, string>> = { yes: "true", no: "false" };

type Range = (value: string, now: number) => Readonly<Record<string, string>> | null;

/** `>10s`, `<1s`, `1s..10s`. */
function tookOf(value: string): Readonly<Record<string, string>> | null {
  const parts = /^[<>]/.test(value) ? [value.slice(1)] : value.split("..");
  if (parts.length > 2 || parts.some((part) => parseDuration(part) === null)) return null;
  const [first = "", last = first] = parts;
  if (value.startsWith("<")) return { tookTo: first };
  return value.startsWith(">") ? { tookFrom: first } : { tookFrom: first, tookTo: last };
}

/** `>1`, `<4`, `2..3`, `2`. */
function attemptOf(value: string): Readonly<Record<string, string>> | null {
  const [, sign, first, , last = first] = /^([<>])?(\d{1,5})(\.\.(\d{1,5}))?$/.exec(value) ?? [];
  if (first === undefined || last === undefined) return null;
  if (sign === ">") return { attemptFrom: String(Number(first) + 1) };
  return sign === "<" ? { attemptTo: String(Math.max(0, Number(first) - 1)) } : { attemptFrom: first, attemptTo: last };
}

const ranges: Readonly<Record<string, Range>> = {
  due: (value, now) => rangeFields("due", value === "past" ? [null, now] : edgesOf(value, now, 1)),
  created: (value, now) => rangeFields("created", edgesOf(value, now)),
  ended: (value, now) => rangeFields("ended", edgesOf(value, now)),
  took: tookOf,
  attempt: attemptOf,
};
