import { type Signal, signal } from "@preact/signals";
import type { RejectedSave } from "../api/saves.ts";
import { type StreamMessage, readMessages } from "./stream.ts";

/**
 * `live`: events arrive as they happen. `stale`: the stream is down and what the page shows may be old. `paused`: the
 * page is hidden, so it requests nothing.
 */
export type Connection = "connecting" | "live" | "stale" | "paused";

export const connection = signal<Connection>("connecting");
/** When something was last heard, by this machine's clock; null before the first time. */
export const heardAt = signal<number | null>(null);
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

/** The stream says something each second. */
const staleAfterMs = 3_000;
const silenceMs = 6_000;
const waitsMs = [50, 250, 1_000, 2_000, 5_000];

let lastId: string | null = null;
/** Of a server that ends each answer at once, so that the page asks again and again. */
let pauseMs = 0;
let failures = 0;
let open: AbortController | null = null;

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

/** A page that just asked asks again in ten seconds, for what changed before the stream began; one that began hidden asks at once. */
function take({ event, data }: StreamMessage): void {
  if (event === "save") rejectedSave.value = JSON.parse(data) as RejectedSave | null;
  const isNew = performance.now() < slowMs;
  if (event === "snapshot" && isNew) nextSlow ??= setTimeout(announce, slowMs);
  else if (event === "snapshot" || event === "job" || event === "gap") announce();
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
