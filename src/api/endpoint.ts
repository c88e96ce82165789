import type { Context, Hono } from "hono";
import type { z } from "zod";
import type { Registry } from "../define/definition.ts";
import type { AuditTrail } from "./audit-trail.ts";
import { readJson } from "./body.ts";
import type { Caller, CallerRole, Identify } from "./caller.ts";
import { checkAccept, checkConditions, readIdempotencyKey } from "./conditional.ts";
import { requestIdOf } from "./guard.ts";
import { type Answer, jsonAnswer } from "./json-answer.ts";
import { type Marks, refuseProbe, shownTo } from "./shown.ts";
import { HttpProblem, invalidField } from "./problem.ts";
import type { ProblemCode } from "./problem-codes.ts";
import { readBody, readPath, readQuery } from "./query.ts";
import { type Bounds, boundsOf, confine, everything, type ScopeRule } from "./scope.ts";
import { howToRepeat, problemOfStore, retryAfter, type Sent, storeDoesNotAnswer } from "./store-failure.ts";

export interface RequestOf<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly caller: Caller;
  readonly request: Request;
  /** A value as the caller may see it. Answers that are JSON are shown so anyway; streams must be. */
  shown(value: unknown): Promise<unknown>;
  /** What of the stage its caller may see and change. */
  readonly within: Bounds;
}

type Replies = Readonly<Record<number, z.ZodType>>;

/** One method and path with everything a person, a test and OpenAPI need to know of it. */
export interface Endpoint<N extends string = string, R extends Replies = Replies, A extends string = string> {
  /** The operation's id: what a generated client calls it. */
  readonly name: N;
  readonly at: A;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With its parameters as `:id`. */
  readonly path: string;
  readonly summary: string;
  /** What the document says beyond the summary and the schemas; left out where nothing is. */
  readonly description?: string;
  /** A request that shows it: values of the path, the query and the body. */
  readonly example?: {
    readonly params?: Readonly<Record<string, string>>;
    readonly query?: Readonly<Record<string, string>>;
    readonly body?: object;
  };
  /** `operate` for everything that changes something. */
  readonly role: CallerRole;
  /** How it keeps to the scope of its caller. */
  readonly scope: ScopeRule<RequestOf<never, never, never>>;
  readonly params?: z.ZodType | undefined;
  readonly query?: z.ZodType | undefined;
  readonly body?: z.ZodType | undefined;
  /** Its body has a `key`, which may come as the header `Idempotency-Key` as well. */
  readonly takesKey?: true;
  /** Its body is a `kind` with its payload: the document of a running app has a schema for each, by this name and the kind. */
  readonly byKind?: "NewJob" | "NewSchedule" | "ScheduleSettings";
  /** Its answer has an `ETag`; a write takes that as `If-Match`. */
  readonly hasVersion?: true;
  /** What it answers with as JSON, by status. */
  readonly replies: R;
  /** What it refuses, besides what is wrong with the request as such. */
  readonly refuses?: readonly ProblemCode[];
  /** Default 5 s: then the answer is that the database gave none. */
  readonly answerMsMax?: number;
  /** A content type that it answers with as well; instead of JSON when it has no replies. */
  readonly streams?: string;
  /** A message of that stream. */
  readonly message?: z.ZodType;
  handle: Handler<RequestOf<never, never, never>, Answer>;
}

type Handler<A, T> = (asked: A) => Promise<T> | T;

/** An answer; or the body of one that is a 200 and nothing else. */
type Answering<A> =
  | { readonly handle: Handler<A, Answer>; readonly reply?: never }
  | { readonly reply: Handler<A, object & { readonly body?: never }>; readonly handle?: never };

type Out<S> = S extends z.ZodType<infer T> ? T : undefined;

type Method = Endpoint["method"];

/** Types the handler by the schemas. Only what reads is open to the role `read`. */
export function endpoint<
  const A extends `${Method} /${string}`,
  const N extends string,
  R extends Replies,
  P extends z.ZodType | undefined = undefined,
  Q extends z.ZodType | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(
  at: A,
  spec: Omit<Endpoint<N, R>, "at" | "method" | "path" | "role" | "params" | "query" | "body" | "handle" | "scope"> & {
    readonly scope: ScopeRule<RequestOf<Out<P>, Out<Q>, Out<B>>>;
    readonly params?: P;
    readonly query?: Q;
    readonly body?: B;
  } & Answering<RequestOf<Out<P>, Out<Q>, Out<B>>>,
): Endpoint<N, R, A> {
  const [method, path] = at.split(" ") as [Method, string];
  const { reply, ...rest } = spec;
  const handle: Endpoint["handle"] = rest.handle ?? (async (asked) => ({ status: 200, body: await reply?.(asked) }));
  return { ...rest, at, method, path, role: method === "GET" ? "read" : "operate", handle };
}

export interface MountOptions {
  readonly identify: Identify;
  readonly audit: AuditTrail;
  readonly marks: Marks;
  readonly registry: Pick<Registry, "apps" | "jobs">;
}

/** Hangs the endpoints into the app: who asks, what they may, what they sent, what is noted. */
export function mount(api: Hono, endpoints: readonly Endpoint[], options: MountOptions): void {
  for (const each of endpoints) api.on(each.method, each.path, (c) => run(each, c, options));
}

async function run(each: Endpoint, c: Context, options: MountOptions): Promise<Response> {
  const caller = requireRole(each.role, options.identify(c.req.raw, c.env));
  const accept = c.req.header("accept") ?? "*/*";
  if (accept !== "*/*") checkAccept(each, accept);
  const isWrite = each.method !== "GET";
  const request: Received = { caller, body: isWrite ? await receive(each, c) : undefined };
  const work = isWrite ? change(each, c, request, options) : look(each, c, request, options);
  return await inTime(work, { ms: each.answerMsMax, ...sentWith(each, request.body) });
}

function sentWith({ method, takesKey }: Endpoint, body: unknown): Sent {
  const isWrite = method !== "GET";
  return takesKey === true ? { isWrite, key: (body as { readonly key?: string }).key ?? null } : { isWrite };
}

/** So that a request is answered within 5 s also while the database stands still: most clients give up soon after. */
const answerMsDefault = 4_500;

/**
 * The answer, or after `ms` that the database did not give one. The work goes on: a write may still happen, and says so.
 * @throws HttpProblem 503
 */
async function inTime(
  work: Promise<Response>,
  { ms = answerMsDefault, ...sent }: Sent & { readonly ms?: number | undefined },
): Promise<Response> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(lateProblem(ms / 1_000, sent));
  }, ms);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function lateProblem(seconds: number, { isWrite, key }: Sent): HttpProblem {
  const about = { ...retryAfter, cause: new Error(`no answer within ${seconds} s`) };
  const late = `there was no answer within ${seconds} s, most likely as the database does not give one`;
  return isWrite
    ? new HttpProblem("outcome-unknown", `${late}: the write may happen; ${howToRepeat(key)}`, about)
    : new HttpProblem("store-away", `${late}: nothing was changed; send it again in a few seconds`, about);
}

interface Received {
  readonly caller: Caller;
  readonly body: unknown;
}

async function look(each: Endpoint, c: Context, request: Received, options: MountOptions): Promise<Response> {
  return await answered(await each.handle(await read(each, c, request, options)), c, request.caller, options);
}

async function change(each: Endpoint, c: Context, request: Received, options: MountOptions): Promise<Response> {
  const { caller, body } = request;
  const { audit } = options;
  const row = {
    caller: caller.name,
    action: `${each.method} ${each.path}`,
    target: c.req.path,
    trace: requestIdOf(c.req.raw),
    body,
  };
  let answer: Answer;
  try {
    answer = await each.handle(await read(each, c, request, options));
  } catch (error) {
    const refusal = error instanceof HttpProblem ? error : problemOfStore(error, sentWith(each, body));
    const noted = isRefusedUnseen(refusal) ? null : audit.note({ ...row, status: refusal?.status ?? 500 });
    // A store that is away takes no note either: the caller must not wait for a second failure.
    if (!storeDoesNotAnswer(error)) await noted;
    throw refusal ?? error;
  }
  const noted = answer.unchanged === true ? null : audit.note({ ...row, status: answer.status });
  const [response] = await Promise.all([answered(answer, c, caller, options), noted]);
  return response;
}

async function answered(answer: Answer, c: Context, caller: Caller, { marks }: MountOptions): Promise<Response> {
  if (answer instanceof Response) return answer;
  const body = await answer.body;
  // Where `shownTo` would leave nothing out.
  const isWhole = caller.hides !== true && marks.areSealed !== true;
  return await jsonAnswer(c, { ...answer, body: isWhole ? body : await shownTo(caller, body, marks) });
}

/** What was refused before anything was looked at changed nothing and may come in floods. */
const isRefusedUnseen = (refusal: HttpProblem | null): boolean =>
  refusal !== null && [400, 413, 415].includes(refusal.status);

/** @throws HttpProblem 401 or 403 */
export function requireRole(role: CallerRole, caller: Caller | null): Caller {
  if (caller === null) {
    throw new HttpProblem("unknown-caller", "this API does not know who you are: sign the request");
  }
  if (role === "operate" && caller.role === "read") {
    throw new HttpProblem(
      "needs-operate",
      `${caller.name} may read but not change anything: ask for the role "operate"`,
    );
  }
  return caller;
}

/** What the request itself says is wrong comes before any look at the store, and the time that its body takes is the client's. */
async function receive(each: Endpoint, c: Context): Promise<unknown> {
  checkConditions(each, c.req.raw);
  return await readContent(each, c.req.raw, readIdempotencyKey(each, c.req.header("idempotency-key")));
}

async function read(
  each: Endpoint,
  c: Context,
  { caller, body }: Received,
  { marks, registry }: MountOptions,
): Promise<RequestOf<never, never, never>> {
  const filter = (body as { filter?: object } | undefined)?.filter ?? {};
  if (caller.hides === true) await refuseProbe(caller, marks, Object.keys({ ...c.req.query(), ...filter }));
  // Most callers have no scope: nothing is computed for them.
  const within = caller.scope === undefined ? everything : boundsOf(registry, caller.scope);
  const asked: RequestOf<never, never, never> = {
    params: (each.params === undefined ? undefined : readPath(c, each.params)) as never,
    query: (each.query === undefined ? refuseQuery(c) : readQuery(c, each.query)) as never,
    body: body as never,
    caller,
    request: c.req.raw,
    shown: (value) => shownTo(caller, value, marks),
    within,
  };
  if (!within.isWhole) await confine(each.scope, asked, within);
  return asked;
}

/** No body is an empty one, where every member may be left out; generated clients send `null` for none. */
async function readContent(each: Endpoint, request: Request, key: string | undefined): Promise<unknown> {
  const json = await readJson(request);
  const sent = json === null && !needsBody(each) ? undefined : json;
  if (each.body === undefined) {
    if (sent === undefined || isEmptyObject(sent)) return undefined;
    throw invalidField("(root)", "is not known here: this request has no body");
  }
  const body = sent === undefined ? {} : sent;
  if (key === undefined || typeof body !== "object" || body === null) return readBody(body, each.body);
  const { key: own } = body as { readonly key?: unknown };
  if (own !== undefined && own !== key) {
    throw invalidField("header idempotency-key", "must be the key of the body, or one of the two be left out");
  }
  return readBody({ ...body, key }, each.body);
}

export const needsBody = ({ body }: Pick<Endpoint, "body">): boolean => body?.safeParse({}).success === false;

const isEmptyObject = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;

function refuseQuery(c: Context): undefined {
  const [name] = Object.keys(c.req.queries());
  if (name === undefined) return undefined;
  throw invalidField(`?${name.slice(0, 100)}`, "is not known here");
}
