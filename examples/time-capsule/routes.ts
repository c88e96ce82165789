import type { Tx } from "belfry";
import { Hono } from "hono";
import { type Inbox, inbox } from "./inbox.ts";

/** Makes the processes that hold streams read at once. Only a hint: a stream also reads by itself every two seconds. */
export async function wake(tx: Tx, userId: string): Promise<void> {
  await tx.query("select pg_notify('time_capsule', $1)", [userId]);
}

const streamMs = 55_000;
const lookMs = 2_000;
const commentMs = 15_000;

export const routes = new Hono();

/**
 * Server-sent events of one user, by the notification's number as id: all of them, or those after `Last-Event-ID`.
 * Ends after 55 s, because a function URL bills by the second; clients reconnect by themselves.
 */
routes.get("/notifications/stream", (c) => {
  const user = c.req.query("user") ?? "";
  const after = c.req.header("last-event-id") ?? c.req.query("after") ?? "0";
  const wrong = [...(isNumber(user) ? [] : ["user"]), ...(isNumber(after) ? [] : ["last-event-id"])];
  if (wrong.length > 0)
    return c.json({ error: "INVALID", fields: wrong, message: "must be a number of at most 18 digits" }, 422);
  const headers = { "content-type": "text/event-stream", "cache-control": "no-store" };
  return new Response(streamOf(inbox(), user, after, c.req.raw.signal), { headers });
});

const isNumber = (text: string): boolean => /^\d{1,18}$/.test(text);

/** Bytes of the stream until the client is gone. */
export function streamOf(box: Inbox, user: string, after: string, gone: AbortSignal): ReadableStream<Uint8Array> {
  const over = new AbortController();
  const signal = AbortSignal.any([gone, over.signal, AbortSignal.timeout(streamMs)]);
  const events = follow(box, user, after, signal);
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const next = await events.next();
      if (next.done === true) controller.close();
      else controller.enqueue(encoder.encode(next.value));
    },
    cancel: () => over.abort(),
  });
}

/** What the table has behind the last number, again and again: at once after `wake`, else every two seconds. */
async function* follow(box: Inbox, user: string, after: string, signal: AbortSignal): AsyncGenerator<string> {
  let last = after;
  let quietMs = 0;
  yield "retry: 500\n\n";
  while (!signal.aborted) {
    const isWoken = box.woken(user, lookMs, signal);
    const news = await box.read(user, last);
    for (const { n, capsuleId, title } of news) {
      yield `id: ${n}\nevent: capsule-opened\ndata: ${JSON.stringify({ capsuleId, title })}\n\n`;
      last = n;
    }
    quietMs = news.length > 0 ? 0 : quietMs + lookMs;
    if (quietMs >= commentMs) {
      quietMs = 0;
      yield ": still here\n\n";
    }
    // A full page has more behind it.
    if (news.length < box.pageRows) await isWoken;
  }
}
