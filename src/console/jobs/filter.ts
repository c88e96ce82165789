/** The text of the filter bar. It is the whole state of the list, so it is also what stands in the address. */
import { parseDuration } from "../../calendar/duration.ts";
import { unquote, wordsOf } from "../filter/terms.ts";
import { type JobState, jobStates } from "./state.ts";
import { words } from "../language/words.ts";

export interface Term {
  readonly field: string;
  readonly value: string;
}

export interface Filter {
  readonly terms: readonly Term[];
  /** Words without a field: each is the id, or a part of the kind, the key or the error. */
  readonly words: readonly string[];
  /** What cannot be used, in words. One of them, and nothing matches. */
  readonly problems: readonly string[];
}

/** Terms separated by spaces; a value with spaces stands in double quotes. */
export function parseFilter(text: string): Filter {
  const terms: Term[] = [];
  const plain: string[] = [];
  const problems: string[] = [];
  for (const word of wordsOf(text)) {
    const colon = word.indexOf(":");
    const field = word.slice(0, Math.max(0, colon)).toLowerCase();
    const value = unquote(word.slice(colon + 1));
    if (colon < 0) plain.push(unquote(word));
    else if (terms.some((term) => term.field === field)) problems.push(words.filter.twice(field));
    else if (!isField(field)) problems.push(words.filter.noField(field, Object.keys(words.jobs.fields).join(", ")));
    else if (value === "") problems.push(words.filter.noValue(field));
    else if (field === "state" && statesOf(value) === null) problems.push(words.filter.noState(value, stateList));
    else if (field === "id" && !/^\d{1,18}$/.test(value)) problems.push(words.filter.noNumber(value));
    else if (field === "held" && !Object.hasOwn(heldValues, value)) problems.push(words.filter.badHeld(value));
    else if (field === "due" && dueOf(value, 0) === null) problems.push(words.filter.badDue(value));
    else terms.push({ field: field.startsWith("payload.") ? word.slice(0, colon) : field, value });
  }
  return { terms, words: plain, problems };
}

const stateList = jobStates.map((state) => state.toLowerCase()).join(", ");
const isField = (field: string): boolean =>
  field.startsWith("payload.") ? field.length > "payload.".length : field in words.jobs.fields;

/** What the API is asked for. Times are relative to `now`, so that an address means the same tomorrow. */
export function queryOf({ terms, words }: Filter, now: number): Readonly<Record<string, string>> {
  const query: Record<string, string> = words.length === 0 ? {} : { text: words.join(" ") };
  for (const { field, value } of terms) {
    if (field === "state") query["state"] = (statesOf(value) ?? []).join(",");
    else if (field === "due") Object.assign(query, dueOf(value, now));
    else if (field === "held") query["held"] = heldValues[value] ?? "";
    else query[field] = value;
  }
  return query;
}

function statesOf(value: string): readonly JobState[] | null {
  const named = value.toUpperCase().split(",");
  const known = jobStates.filter((state) => named.includes(state));
  return known.length === named.length ? known : null;
}

const heldValues: Readonly<Record<string, string>> = { yes: "true", no: "false" };

/** `past`; `<1h` within the next hour; `>10m` later than in ten minutes; two ISO times with `..` between. */
function dueOf(value: string, now: number): Readonly<Record<string, string>> | null {
  const iso = (at: number): string => new Date(at).toISOString();
  if (value === "past") return { dueTo: iso(now) };
  const span = /^[<>]\d{1,6}[smhd]$/.test(value) ? parseDuration(value.slice(1)) : null;
  if (span !== null) {
    const at = now + span;
    return value.startsWith("<") ? { dueFrom: iso(now), dueTo: iso(at) } : { dueFrom: iso(at) };
  }
  const [from, to, ...rest] = value.split("..").map((part) => Date.parse(part));
  if (from === undefined || to === undefined || rest.length > 0 || Number.isNaN(from + to)) return null;
  return { dueFrom: iso(from), dueTo: iso(to) };
}
