/** The text of the filter bar. It is the whole state of the list, so it is also what stands in the address. */
import { type JobState, jobStates } from "../shape.ts";

export interface Term {
  readonly field: string;
  readonly value: string;
}

export interface Filter {
  readonly terms: readonly Term[];
  /** What cannot be used, in words; the rest of the filter still counts. */
  readonly problems: readonly string[];
}

/** Fields one may write, with what they mean. */
export const filterFields: Readonly<Record<string, string>> = {
  state: "one state or several: failed,skipped",
  kind: "the definition's name",
  key: "its whole key",
  lane: "where it runs",
  error: "its error code",
  fingerprint: "failures that look alike",
  due: "when its time comes: past, <1h, >10m, or from..to",
  schedule: "the schedule that made it",
  run: "the number of its run",
  worker: "who runs it or ran it last",
  "payload.": "a member of its payload: payload.userId:42",
};

/** Words apart by blanks; a value with blanks stands in double quotes. */
export function parseFilter(text: string): Filter {
  const terms: Term[] = [];
  const problems: string[] = [];
  for (const word of wordsOf(text)) {
    const colon = word.indexOf(":");
    const field = word.slice(0, Math.max(0, colon)).toLowerCase();
    const value = unquoted(word.slice(colon + 1));
    if (colon < 0) problems.push(`“${word}” has no field: write key:${word} or kind:${word}`);
    else if (!isField(field)) problems.push(`“${field}” is no field: use ${Object.keys(filterFields).join(", ")}`);
    else if (value === "") problems.push(`“${field}:” has no value yet`);
    else if (field === "state" && statesOf(value) === null) problems.push(`“${value}” is no state: ${stateList}`);
    else if (field === "due" && dueOf(value, 0) === null)
      problems.push(`“due:${value}”: write due:past, due:<1h or due:>10m`);
    else terms.push({ field: field.startsWith("payload.") ? word.slice(0, colon) : field, value });
  }
  return { terms, problems };
}

const stateList = jobStates.map((state) => state.toLowerCase()).join(", ");
const isField = (field: string): boolean =>
  field.startsWith("payload.") ? field.length > "payload.".length : field in filterFields;

/** Blanks inside quotes do not part words. */
export const wordsOf = (text: string): readonly string[] => text.match(/(?:[^\s"]+|"(?:\\.|[^"\\])*"?)+/g) ?? [];

const unquoted = (value: string): string =>
  value.startsWith('"') ? value.slice(1).replace(/"$/, "").replaceAll('\\"', '"') : value;

export const quoted = (value: string): string => (/[\s"]/.test(value) ? `"${value.replaceAll('"', '\\"')}"` : value);

/** The term in place of others of its field, or added; `null` removes them. */
export function withTerm(text: string, field: string, value: string | null): string {
  const rest = wordsOf(text).filter((word) => !word.toLowerCase().startsWith(`${field}:`));
  return [...rest, ...(value === null ? [] : [`${field}:${quoted(value)}`])].join(" ");
}

/** What the API is asked for. Times are relative to `now`, so that an address means the same tomorrow. */
export function queryOf({ terms }: Filter, now: number): Readonly<Record<string, string>> {
  const query: Record<string, string> = {};
  for (const { field, value } of terms) {
    if (field === "state") query["state"] = (statesOf(value) ?? []).join(",");
    else if (field === "due") Object.assign(query, dueOf(value, now));
    else query[field] = value;
  }
  return query;
}

function statesOf(value: string): readonly JobState[] | null {
  const named = value.toUpperCase().split(",");
  const known = jobStates.filter((state) => named.includes(state));
  return known.length === named.length ? known : null;
}

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `past`; `<1h` within the next hour; `>10m` later than in ten minutes; two ISO times with `..` between. */
function dueOf(value: string, now: number): Readonly<Record<string, string>> | null {
  const iso = (at: number): string => new Date(at).toISOString();
  if (value === "past") return { dueTo: iso(now) };
  const relative = /^([<>])(\d{1,6})([smhd])$/.exec(value);
  if (relative !== null) {
    const at = now + Number(relative[2]) * (units[relative[3] ?? ""] ?? 0);
    return relative[1] === "<" ? { dueFrom: iso(now), dueTo: iso(at) } : { dueFrom: iso(at) };
  }
  const [from, to, ...rest] = value.split("..").map((part) => Date.parse(part));
  if (from === undefined || to === undefined || rest.length > 0 || Number.isNaN(from + to)) return null;
  return { dueFrom: iso(from), dueTo: iso(to) };
}
