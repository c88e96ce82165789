/** Ranges of time as a filter writes them. */
import { parseDuration } from "../../calendar/duration.ts";
import { words } from "../language/words.ts";

export const isoTime = (at: number): string => new Date(at).toISOString();

type Edge = number | null;

/** `<1h`: no further from now than that, ahead of it or behind it; `>1d`: further; ISO times with `..` between, or with one side open. */
export function edgesOf(value: string, now: number, ahead: 1 | -1 = -1): readonly [from: Edge, to: Edge] | null {
  const day = namedDay(value, now);
  if (day !== null) return day;
  const span = /^[<>]\d{1,6}[smhd]$/.test(value) ? parseDuration(value.slice(1)) : null;
  if (span !== null) {
    const [edge, isNear] = [now + ahead * span, value.startsWith("<")];
    if (ahead === 1) return isNear ? [now, edge] : [edge, null];
    return isNear ? [edge, now] : [null, edge];
  }
  const [from = NaN, to = NaN, ...rest] = value.split("..").map((part) => (part === "" ? null : Date.parse(part)));
  const isNone = rest.length > 0 || Number.isNaN(from ?? 0) || Number.isNaN(to ?? 0) || (from === null && to === null);
  return isNone ? null : [from, to];
}

/** The same as the API is asked for it; null when it ends before it begins. */
export function rangeFields(field: string, edges: ReturnType<typeof edgesOf>): Readonly<Record<string, string>> | null {
  if (edges === null) return null;
  const [from, to] = edges;
  if (from !== null && to !== null && from > to) return null;
  return {
    ...(from === null ? {} : { [`${field}From`]: isoTime(from) }),
    ...(to === null ? {} : { [`${field}To`]: isoTime(to) }),
  };
}

/** What an address says; null for no text. @throws Error for a text that is no range */
export function writtenEdges(field: string, text: string, now: number): ReturnType<typeof edgesOf> {
  const edges = edgesOf(text, now);
  if (text !== "" && rangeFields(field, edges) === null) throw new Error(words.filter.badRange(field, text));
  return edges;
}

/** By the reader's clock: from six in the evening to nine in the morning, or a whole day. */
function namedDay(value: string, now: number): readonly [number, number] | null {
  const today = Date.parse(new Intl.DateTimeFormat("sv-SE", { dateStyle: "short" }).format(now));
  const at = (days: number, hour = "00:00"): number =>
    Date.parse(`${new Date(today + days * 86_400_000).toISOString().slice(0, 10)}T${hour}`);
  if (value === "last-night") return [at(-1, "18:00"), at(0, "09:00")];
  if (value === "today") return [at(0), at(1)];
  return value === "yesterday" ? [at(-1), at(0)] : null;
}
