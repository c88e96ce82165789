import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { etagOfRead, isHeld } from "./conditional.ts";
import { requestIdOf } from "./guard.ts";
import { documentOf, type HttpProblem } from "./problem.ts";

/** What a handler answers: JSON with a status, or a response of its own (streams and text). */
export type Answer = JsonAnswer | (Response & { readonly unchanged?: never });

export interface JsonAnswer {
  readonly status: ContentfulStatusCode;
  /** A promise: the change has happened and may be noted while this is still being read. */
  readonly body: unknown;
  readonly location?: string;
  readonly etag?: string;
  /** An earlier request had the key, so nothing was changed or is noted; the header `Idempotency-Replayed` says so. */
  readonly unchanged?: true;
}

const zipped = promisify(gzip);
/** Below it the headers of a packet weigh more than what is saved. */
const zippedBytesMin = 4_096;
/** `q=0` is a refusal. */
const takesGzip = (accepted = ""): boolean => /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/.test(accepted);

/** Large answers are compressed for clients that take it; a page with a cursor says in `Link` where the next one is. */
export async function jsonAnswer(c: Context, answer: JsonAnswer): Promise<Response> {
  const body = await answer.body;
  const text = JSON.stringify(body);
  const etag = answer.etag !== undefined && isRead(c) ? etagOfRead(answer.etag, text) : answer.etag;
  if (etag !== undefined && isRead(c) && isHeld(etag, c.req.header("if-none-match")))
    return c.body(null, 304, { etag });
  const headers = {
    "content-type": "application/json",
    ...(answer.location === undefined ? {} : { location: answer.location }),
    ...(etag === undefined ? {} : { etag }),
    ...(answer.unchanged === true ? { "idempotency-replayed": "true" } : {}),
    ...linkOf(c, body),
  };
  const isZipped = text.length >= zippedBytesMin && takesGzip(c.req.header("accept-encoding"));
  if (!isZipped) return c.body(text, answer.status, headers);
  const bytes = new Uint8Array(await zipped(text));
  return c.body(bytes, answer.status, { ...headers, "content-encoding": "gzip", vary: "accept-encoding" });
}

const isRead = ({ req: { method } }: Context): boolean => method === "GET" || method === "HEAD";

/** RFC 8288, relative to the request. */
function linkOf(c: Context, body: unknown): { readonly link?: string } {
  const next = (body as { readonly nextCursor?: unknown } | null)?.nextCursor;
  if (typeof next !== "string") return {};
  const query = new URL(c.req.url).searchParams;
  query.set("cursor", next);
  return { link: `<${c.req.path}?${query.toString()}>; rel="next"` };
}

type Document = ReturnType<typeof documentOf>;

/** Writes the document. Only what the problem itself says leaves the process, as its caller may see it: no stack, no SQL, no cause. */
export async function answerProblem(
  c: Context,
  problem: HttpProblem,
  shown: (document: Document) => unknown = (document) => document,
): Promise<Response> {
  const body = await shown(documentOf(problem, requestIdOf(c.req.raw)));
  return c.body(JSON.stringify(body), problem.status, {
    ...problem.headers,
    "content-type": "application/problem+json",
  });
}
