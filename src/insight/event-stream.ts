import { z } from "zod";
import { streamLimits } from "./stream-limits.ts";
import { count, idText, state, time } from "./atoms.ts";

/** A change of state with what a reader filters by. Repeats have the same `id`, by which the receiver drops them. */
export const streamEvent = z
  .object({
    id: z.string().min(1).max(64),
    at: time,
    job: idText,
    run: idText.nullable(),
    kind: z.string().nullable(),
    key: z.string().nullable(),
    lane: z.string().nullable(),
    from: state.nullable(),
    to: state,
    attempt: count,
    generation: count,
    worker: z.string().nullable(),
    reason: z.string().nullable(),
  })
  .meta({ id: "Event" });

export type StreamEvent = Readonly<z.infer<typeof streamEvent>>;

/** Where a reader of the events is. Opaque; keep it and hand it back. */
export type StreamCursor = string & { readonly brand: "StreamCursor" };

export interface StreamPage {
  readonly events: readonly StreamEvent[];
  /** After these events. Read from the cursor before them again and they come again, under the same ids. */
  readonly cursor: StreamCursor;
  /** More can be read at once. */
  readonly isMore: boolean;
  /** The cursor was of another epoch: the database was restored or moved since, so events may be missing before this page. */
  readonly isGap: boolean;
}

/** At most `limit` events that became visible since the cursor; null begins now. */
export type ReadEvents = (cursor: StreamCursor | null, limit: number) => Promise<StreamPage>;

/** How far one look saw. Transactions from `next` on begin after it: their events have ids above `last`. */
export interface StreamLook {
  /** A snapshot of Postgres: `xmin:xmax:xip,xip`. */
  readonly snapshot: string;
  readonly next: string;
  /** The highest event id that could be seen. */
  readonly last: string;
}

/**
 * A decoded cursor: every event visible to `from` was read. While a page is set, the events between it and `upto` were read as
 * far as `id`; `place` counts the moves inside that event row.
 */
export interface StreamPlace {
  /** The name of the history that its transactions belong to. */
  readonly epoch: string;
  readonly from: StreamLook;
  readonly page: { readonly upto: StreamLook; readonly id: string; readonly place: string } | null;
}

export const formatCursor = ({ epoch, from, page }: StreamPlace): StreamCursor =>
  [epoch, lookText(from), ...(page === null ? [] : [lookText(page.upto), page.id, page.place])].join(
    "~",
  ) as StreamCursor;

const lookText = ({ snapshot, next, last }: StreamLook): string => `${snapshot}:${next}:${last}`;

const snapshotText = `\\d{1,19}:\\d{1,19}:(?:\\d{1,19}(?:,\\d{1,19}){0,${streamLimits.streamOpenMax - 1}})?`;
const lookPattern = new RegExp(`^(${snapshotText}):(\\d{1,19}):(\\d{1,19})$`);
const idMax = 2n ** 63n - 1n;
const isNumber = (text: string): boolean => /^\d{1,19}$/.test(text) && BigInt(text) <= idMax;

function parseLook(text: string): StreamLook | null {
  const [, snapshot = "", next = "", last = ""] = lookPattern.exec(text) ?? [];
  if (!isSnapshot(snapshot) || !isNumber(next) || !isNumber(last)) return null;
  return BigInt(next) < BigInt(snapshotEnd(snapshot)) ? null : { snapshot, next, last };
}

/** By the rules of Postgres, which answers any other text with an error: bounds above 0 and in order, and so what lies between. */
function isSnapshot(text: string): boolean {
  const [start = 0n, end = 0n] = text.split(":", 2).map(BigInt);
  const places = [start, ...snapshotOpen(text).map(BigInt)];
  const isOrdered = places.every((place, index) => place >= (places[index - 1] ?? 0n));
  return start > 0n && end >= start && isOrdered && places.every((place, index) => index === 0 || place < end);
}

/** @returns null for text that is no cursor. */
export function parseCursor(text: string): StreamPlace | null {
  const [epoch = "", begin = "", end, id = "", place = "", ...rest] = text.split("~");
  const from = parseLook(begin);
  if (!/^[0-9a-f]{8}$/.test(epoch) || from === null || rest.length > 0) return null;
  if (end === undefined) return { epoch, from, page: null };
  const upto = parseLook(end);
  if (upto === null || !isNumber(id) || !isNumber(place)) return null;
  return { epoch, from, page: { upto, id, place } };
}

/** The upper bound of a snapshot: every transaction from there on was not seen. */
export const snapshotEnd = (text: string): string => text.split(":")[1] ?? "0";

/** Transactions below the end that were still open. */
export const snapshotOpen = (text: string): readonly string[] => (text.split(":")[2] ?? "").split(",").filter(Boolean);

/**
 * The snapshot, or an earlier one that ends where more than `streamOpenMax` transactions are open: a cursor is sent as a header. What
 * it does not see comes with a later look, so nothing is missed and nothing comes twice.
 */
export function shortSnapshot(text: string): string {
  const open = snapshotOpen(text);
  const end = open[streamLimits.streamOpenMax];
  return end === undefined ? text : `${open[0]}:${end}:${open.slice(0, streamLimits.streamOpenMax).join(",")}`;
}

/** What is left out or undefined does not narrow. */
export interface EventFilter {
  readonly kind?: string | undefined;
  /** Only of these kinds; an event whose job is gone has none. */
  readonly kinds?: readonly string[];
  readonly lane?: string | undefined;
  readonly job?: string | undefined;
  readonly run?: string | undefined;
  readonly state?: readonly string[] | undefined;
}

export function matchesFilter(event: StreamEvent, filter: EventFilter): boolean {
  return (
    (filter.kind === undefined || event.kind === filter.kind) &&
    (filter.kinds === undefined || (event.kind !== null && filter.kinds.includes(event.kind))) &&
    (filter.lane === undefined || event.lane === filter.lane) &&
    (filter.job === undefined || event.job === filter.job) &&
    (filter.run === undefined || event.run === filter.run) &&
    (filter.state === undefined || filter.state.includes(event.to))
  );
}
