import type { Context, Hono } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { z } from "zod";
import type { AuditTrail } from "./audit-trail.ts";
import { readJson } from "./body.ts";
import type { Caller, Identify, Role } from "./caller.ts";
import { Problem } from "./problem.ts";
import { readBody, readPath, readQuery } from "./query.ts";

/** What a handler answers: JSON with a status, or a response of its own (streams and text). */
export type Answer = Json | Response;

interface Json {
  readonly status: ContentfulStatusCode;
  /** A promise: the change has happened and may be noted while this is still being read. */
  readonly body: unknown;
  readonly location?: string;
}

export interface Asked<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly caller: Caller;
  readonly request: Request;
}

/** One method and path with everything a person, a test and OpenAPI need to know of it. */
export interface Endpoint {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** With its parameters as `:id`. */
  readonly path: string;
  readonly summary: string;
  /** `operate` for everything that changes something. */
  readonly role: Role;
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /** What it answers with as JSON, by status. */
  readonly replies: Readonly<Record<number, z.ZodType>>;
  /** A content type that it answers with as well; instead of JSON when it has no replies. */
  readonly streams?: string;
  handle(asked: Asked<never, never, never>): Promise<Answer> | Answer;
}

type Out<S> = S extends z.ZodType<infer T> ? T : undefined;

/** Types the handler by the schemas and hands the endpoint on. */
export function endpoint<
  P extends z.ZodType | undefined = undefined,
  Q extends z.ZodType | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(
  spec: Omit<Endpoint, "params" | "query" | "body" | "handle"> & {
    readonly params?: P;
    readonly query?: Q;
    readonly body?: B;
    handle(asked: Asked<Out<P>, Out<Q>, Out<B>>): Promise<Answer> | Answer;
  },
): Endpoint {
  return spec as unknown as Endpoint;
}

export interface MountOptions {
  readonly identify: Identify;
  readonly audit: AuditTrail;
}

/** Hangs the endpoints into the app: who asks, what they may, what they sent, what is noted. */
export function mount(api: Hono, endpoints: readonly Endpoint[], options: MountOptions): void {
  for (const each of endpoints) api.on(each.method, each.path, (c) => run(each, c, options));
}

async function run(each: Endpoint, c: Context, { identify, audit }: MountOptions): Promise<Response> {
  const caller = allowed(each.role, identify(c.req.raw, c.env));
  if (each.method === "GET") return await send(c, await each.handle(await read(each, c, caller)));
  const change = { caller: caller.name, action: `${each.method} ${each.path}`, target: c.req.path };
  let body: unknown = null;
  let answer: Answer;
  try {
    const asked = await read(each, c, caller);
    body = asked.body ?? null;
    answer = await each.handle(asked);
  } catch (error) {
    const status = error instanceof Problem ? error.status : 500;
    // What was refused before anything was looked at changed nothing and may come in floods.
    if (status !== 400 && status !== 413) await audit.note({ ...change, status, body });
    throw error;
  }
  const [response] = await Promise.all([send(c, answer), audit.note({ ...change, status: answer.status, body })]);
  return response;
}

/** @throws Problem 401 or 403 */
export function allowed(role: Role, caller: Caller | null): Caller {
  if (caller === null) throw new Problem(401, "unknown-caller", "this API does not know who you are: sign the request");
  if (role === "operate" && caller.role === "read") {
    throw new Problem(403, "needs-operate", `${caller.name} may look but not change: ask for the role "operate"`);
  }
  return caller;
}

async function read(each: Endpoint, c: Context, caller: Caller): Promise<Asked<never, never, never>> {
  return {
    params: (each.params === undefined ? undefined : readPath(c, each.params)) as never,
    query: (each.query === undefined ? refuseQuery(c) : readQuery(c, each.query)) as never,
    body: (each.body === undefined ? undefined : readBody(await readJson(c.req.raw), each.body)) as never,
    caller,
    request: c.req.raw,
  };
}

function refuseQuery(c: Context): undefined {
  const [name] = Object.keys(c.req.query());
  if (name === undefined) return undefined;
  const path = `?${name.slice(0, 100)}`;
  throw new Problem(400, "invalid-request", `${path}: is not known here`, {
    issues: [{ path, message: "is not known here" }],
  });
}

async function send(c: Context, answer: Answer): Promise<Response> {
  if (answer instanceof Response) return answer;
  return c.json(
    (await answer.body) as object,
    answer.status,
    answer.location === undefined ? {} : { location: answer.location },
  );
}
