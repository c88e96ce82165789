import { type Signal, signal } from "@preact/signals";
import type { RejectedSave } from "../api/saves.ts";
import type { JobReply } from "../api/shape/job.ts";
import { type StreamMessage, readMessages } from "./stream.ts";

/**
 * `live`: events arrive as they happen. `stale`: the stream is down and what the page shows may be old. `paused`: the
 * page is hidden, so it requests nothing.
 */
export type Connection = "connecting" | "live" | "stale" | "paused";

/** One change of a job's state, as the stream sends it. */
export interface JobChange {
  readonly id: string;
  readonly job: string;
  readonly kind: string | null;
  readonly at: string;
  readonly to: string;
}

export const connection = signal<Connection>("connecting");
/** When something was last heard, by this machine's clock; null before the first time. */
export const heardAt = signal<number | null>(null);
/** The newest change of each job, the newest first. */
export const feed = signal<readonly JobChange[]>([]);
/** Goes up when something changed in the system, at most once a second: lists ask again. */
export const changes = signal(0);
/** The same for what costs more to ask: at most every ten seconds. */
export const slowChanges = signal(0);

/** The newest save of the project's code, while it cannot be used. Known on a local system only. */
export const rejectedSave = signal<RejectedSave | null>(null);

/** Calls at each further change, not for the value that is there. @returns what ends it */
export function afterwards(of: Signal<number>, tell: () => void): () => void {
  const begun = of.peek();
  return of.subscribe((value) => value !== begun && tell());
}

const feedRowsMax = 200;
const rememberedIdsMax = 5_000;
/** The stream says something each second. */
const staleAfterMs = 3_000;
const silenceMs = 6_000;
const waitsMs = [50, 250, 1_000, 2_000, 5_000];

let lastId: string | null = null;
/** Of a server that ends each answer at once, so that the page asks again and again. */
let pauseMs = 0;
let failures = 0;
let open: AbortController | null = null;
const seen = new Set<string>();

/** Starts listening, and stops while the page is hidden. */
export function followChanges(): void {
  document.addEventListener("visibilitychange", () => (document.hidden ? pause() : void follow()));
  if (document.hidden) pause();
  else void follow();
}

function pause(): void {
  connection.value = "paused";
  open?.abort();
  open = null;
}

/** One connection after the other until the page is hidden: each goes on behind the last event that was seen. */
async function follow(): Promise<void> {
  if (open !== null) return;
  const own = new AbortController();
  open = own;
  connection.value = "connecting";
  while (!own.signal.aborted) {
    const late = setTimeout(() => becomeStale(own.signal), staleAfterMs);
    const ended = await connectOnce(own.signal, () => {
      clearTimeout(late);
      if (!own.signal.aborted) connection.value = "live";
    });
    clearTimeout(late);
    if (own.signal.aborted) return;
    if (ended === "ended") await wait(pauseMs, own.signal);
    else {
      failures += 1;
      if (failures > 2) becomeStale(own.signal);
      await wait(waitsMs[Math.min(failures, waitsMs.length) - 1] ?? 5_000, own.signal);
    }
  }
}

function becomeStale(signal: AbortSignal): void {
  if (!signal.aborted) connection.value = "stale";
}

/** A request that nothing answered says it first. */
export function noAnswer(): void {
  if (connection.value === "live") connection.value = "stale";
}

async function connectOnce(signal: AbortSignal, onHeard: () => void): Promise<"ended" | "broken"> {
  const attempt = new AbortController();
  const either = AbortSignal.any([signal, attempt.signal]);
  let silence = setTimeout(() => attempt.abort(), silenceMs);
  let late: ReturnType<typeof setTimeout> | undefined;
  try {
    const response = await fetch("/events", {
      headers: { accept: "text/event-stream", ...(lastId === null ? {} : { "last-event-id": lastId }) },
      signal: either,
      cache: "no-store",
    });
    if (!response.ok || response.body === null) return "broken";
    await readMessages(response.body, {
      onBytes() {
        onHeard();
        failures = 0;
        heardAt.value = Date.now();
        clearTimeout(silence);
        silence = setTimeout(() => attempt.abort(), silenceMs);
        clearTimeout(late);
        late = setTimeout(() => becomeStale(either), staleAfterMs);
      },
      onId(id) {
        lastId = id;
      },
      onRetry(ms) {
        pauseMs = ms;
      },
      onMessage: take,
    });
    return "ended";
  } catch {
    return "broken";
  } finally {
    clearTimeout(silence);
    clearTimeout(late);
    attempt.abort();
  }
}

/** Events may come again after a reconnect: each counts once. After a gap or at the start everything is loaded again. */
function take({ event, data }: StreamMessage): void {
  if (event === "save") rejectedSave.value = JSON.parse(data) as RejectedSave | null;
  if (event === "snapshot") begin(data);
  if (event === "snapshot" || event === "gap") announce();
  if (event !== "job") return;
  const change = JSON.parse(data) as JobChange;
  if (seen.has(change.id)) return;
  seen.add(change.id);
  if (seen.size > rememberedIdsMax) seen.delete(seen.values().next().value ?? "");
  feed.value = [change, ...feed.value.filter(({ job }) => job !== change.job)].slice(0, feedRowsMax);
  announce();
}

/** Begins with the newest jobs, so that a new page does not look empty. */
function begin(data: string): void {
  if (feed.value.length > 0) return;
  const { jobs } = JSON.parse(data) as { readonly jobs: readonly JobReply[] };
  const stands = jobs.map(({ id, kind, state, createdAt, startedAt, finishedAt }) => {
    return { id: `job ${id}`, job: id, kind, at: finishedAt ?? startedAt ?? createdAt, to: state };
  });
  feed.value = stands.toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at));
}

const gatherMs = 500;
const slowMs = 10_000;
let slowAt = Date.now();
let announcing: ReturnType<typeof setTimeout> | null = null;
let nextSlow: ReturnType<typeof setTimeout> | null = null;

/** What costs more is asked before the rest, and also after the last change of many. */
function announce(): void {
  announcing ??= setTimeout(() => {
    announcing = null;
    const waitMs = slowMs - (Date.now() - slowAt);
    if (waitMs > 0) nextSlow ??= setTimeout(announce, waitMs);
    else {
      if (nextSlow !== null) clearTimeout(nextSlow);
      nextSlow = null;
      slowAt = Date.now();
      slowChanges.value += 1;
    }
    changes.value += 1;
  }, gatherMs);
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal.addEventListener("abort", () => {
    clearTimeout(timer);
    resolve();
  });
  return promise;
}
