import type { Tx } from "belfry";
import { Hono } from "hono";
import { z } from "zod";
import { databasePool } from "belfry/connect";
import { closeCapsule } from "./capsule.ts";
import { type Inbox, inbox } from "./inbox.ts";

/** Makes the processes that hold streams read at once. Only a hint: a stream also reads by itself every two seconds. */
export async function wake(tx: Tx, userId: string): Promise<void> {
  await tx.query("select pg_notify('time_capsule', $1)", [userId]);
}

const streamMs = 55_000;
const lookMs = 2_000;
const commentMs = 15_000;

const connected = databasePool({ poolSize: 1 });
export const routes = new Hono();

const userId = z.string().regex(/^\d{1,18}$/, "must be a number of at most 18 digits");
const asked = z.object({
  user: userId,
  title: z.string().min(1).max(200),
  content: z.string().max(10_000),
  opens_at: z.iso.datetime({ offset: true }),
});

routes.post("/capsules", async (c) => {
  const read = asked.safeParse(await c.req.json().catch(() => null));
  if (!read.success) return c.json({ error: "INVALID", fields: z.flattenError(read.error).fieldErrors }, 422);
  const { opens_at: opensAt, ...capsule } = read.data;
  const { rowCount } = await connected().query("select from time_capsule.app_user where id = $1", [capsule.user]);
  if (rowCount === 0) return c.json({ error: "UNKNOWN", message: `there is no user ${capsule.user}` }, 404);
  return c.json(await closeCapsule(connected(), { ...capsule, opensAt: new Date(opensAt) }), 201);
});

const capsulesOf = `
  select c.id::text, c.title, case when c.opened_at is null then 'CLOSED' else 'OPENED' end as status, c.opens_at, c.opened_at,
    case when c.opened_at is not null then c.content end as content
  from time_capsule.capsule c join time_capsule.member m on m.capsule_id = c.id
  where m.user_id = $1 order by c.opens_at desc limit 100`;

/** Of one user; what is in it only when it is open. */
routes.get("/capsules", async (c) => {
  const user = userId.safeParse(c.req.query("user"));
  if (!user.success)
    return c.json({ error: "INVALID", fields: { user: ["must be a number of at most 18 digits"] } }, 422);
  return c.json({ capsules: (await connected().query(capsulesOf, [user.data])).rows });
});

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
    for (const one of news) {
      yield `id: ${one.id}\nevent: time-capsule\ndata: ${JSON.stringify(one)}\n\n`;
      last = one.id;
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
