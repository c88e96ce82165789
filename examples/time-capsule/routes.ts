import { setTimeout as wait } from "node:timers/promises";
import { Hono } from "hono";
import { z } from "zod";
import { databasePool } from "belfry/connect";
import { closeCapsule } from "./capsule.ts";

const streamMs = 55_000;
const lookMs = 1_000;
const pageRows = 100;
const connected = databasePool();
const number = z.string().regex(/^\d{1,18}$/, "must be a number of at most 18 digits");
const text = z.string().refine((given) => !given.includes("\0"), "holds a NUL character: remove it");
const asked = z.object({
  user: number,
  title: text.min(1).max(200),
  content: text.max(10_000),
  open_at: z.iso.datetime({ offset: true }),
});

export const routes = new Hono();

routes.onError((error, c) => {
  if (!(error instanceof z.ZodError)) throw error;
  return c.json({ error: "INVALID", fields: z.flattenError(error).fieldErrors }, 422);
});

routes.post("/capsules", async (c) => {
  const { open_at: opensAt, ...capsule } = asked.parse((await c.req.json().catch(() => null)) ?? {});
  const { rowCount } = await connected().query("select from time_capsule.app_user where id = $1", [capsule.user]);
  if (rowCount === 0) return c.json({ error: "UNKNOWN", message: `there is no user ${capsule.user}` }, 404);
  return c.json(await closeCapsule(connected(), { ...capsule, opensAt: new Date(opensAt) }), 201);
});

const capsulesOf = `
  select c.id::text, c.title, c.status, c.open_at, c.opened_at, case when c.opened_at is not null then c.content end as content
  from time_capsule.time_capsule c join time_capsule.member m on m.capsule_id = c.id
  where m.user_id = $1 order by c.open_at desc limit 100`;

/** Of one user; what is in it only when it is open. */
routes.get("/capsules", async (c) => {
  const { user } = z.object({ user: number }).parse(c.req.query());
  return c.json({ capsules: (await connected().query(capsulesOf, [user])).rows });
});

/**
 * Server-sent events of one user, by the notification's number as id: all of them, or those after `Last-Event-ID`.
 * Ends after 55 s, because a function URL bills by the second; clients reconnect by themselves.
 */
routes.get("/notifications/stream", (c) => {
  const given = { user: c.req.query("user"), after: c.req.header("last-event-id") ?? c.req.query("after") ?? "0" };
  const { user, after } = z.object({ user: number, after: number }).parse(given);
  const signal = AbortSignal.any([c.req.raw.signal, AbortSignal.timeout(streamMs)]);
  const events = ReadableStream.from(follow(user, after, signal)).pipeThrough(new TextEncoderStream());
  return new Response(events, { headers: { "content-type": "text/event-stream", "cache-control": "no-store" } });
});

const newsOf = `
  select n::text as id, type, title, content, capsule_id::text as "relatedId", created_at as "createdAt"
  from time_capsule.notification where user_id = $1 and n > $2 order by n limit ${pageRows}`;

/** What the table has behind the last number, each second. A page that misses something reads it when it comes back. */
async function* follow(user: string, after: string, signal: AbortSignal): AsyncGenerator<string> {
  let last = after;
  yield "retry: 500\n\n";
  for (let looks = 1; !signal.aborted; looks++) {
    const { rows } = await connected().query<{ id: string }>(newsOf, [user, last]);
    for (const news of rows) yield `id: ${news.id}\nevent: time-capsule\ndata: ${JSON.stringify(news)}\n\n`;
    last = rows.at(-1)?.id ?? last;
    if (looks % 15 === 0) yield ": still here\n\n";
    // A full page has more behind it.
    if (rows.length < pageRows) await wait(lookMs, null, { signal }).catch(() => null);
  }
}
