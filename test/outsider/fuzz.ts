import fc from "fast-check";
import { documented, type OpenApiDocument } from "../api/documented.ts";
import type { Check } from "./check.ts";
import { faultyServer } from "./faulty.ts";
import { prepareIds } from "./operations.ts";
import { spoiled, valuesOf } from "./values.ts";
import type { Target } from "./world.ts";

const runsEach = Number(process.env["FUZZ_RUNS"] ?? 25);
const answerMsMax = 20_000;

interface Operation {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly schema: object;
  }[];
  readonly body: { readonly required: boolean; readonly schema: object } | null;
}

interface Request {
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/** Texts that have broken parsers, queries, logs and terminals before, and others; a URL takes two as steps. */
const texts = fc
  .oneof(
    fc.constantFrom("", "0", "-1", "9223372036854775808", "1e400", "' or 1=1 --", "<script>", "a\r\nset-cookie: x"),
    fc.constantFrom("\u001b[31mred", "\0", "\ud800", "__proto__", "../../etc/passwd", "%00", "{}", "x".repeat(600)),
    fc.string({ unit: "binary", maxLength: 20 }),
  )
  .map((text) => text.toWellFormed())
  .filter((text) => text !== "." && text !== "..");

/** The stream never ends, and what it sends is no document. */
const streams = new Set(["listEvents"]);

function operationsOf({ paths, components }: OpenApiDocument): readonly Operation[] {
  type Shown = {
    operationId: string;
    parameters: Operation["parameters"];
    requestBody?: { required: boolean; content: Record<string, { schema: object }> };
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods as unknown as Readonly<Record<string, Shown>>).map(
      ([method, { operationId, parameters, requestBody }]) => {
        const given = requestBody?.content["application/json"]?.schema;
        const schema = given && pointedAt(given, components);
        const body = schema === undefined ? null : { required: requestBody?.required === true, schema };
        return { name: operationId, method: method.toUpperCase(), path, parameters, body };
      },
    ),
  );
}

/** What a schema points at, in its place. */
const pointedAt = (schema: object, { schemas }: OpenApiDocument["components"]): object =>
  JSON.parse(JSON.stringify(schema), (_, each: { readonly $ref?: string } | null): unknown =>
    each?.$ref === undefined
      ? each
      : pointedAt(schemas[each.$ref.replace("#/components/schemas/", "")] ?? {}, { schemas } as never),
  ) as object;

/** Requests that the document allows; ids that exist come as often as others. */
function requestsOf(
  { path, parameters, body }: Operation,
  ids: Readonly<Record<string, string>>,
): fc.Arbitrary<Request> {
  const record = (place: string): fc.Arbitrary<Readonly<Record<string, unknown>>> => {
    // A cursor is what a page before gave.
    const named = parameters.filter((each) => each.in === place && each.name !== "cursor");
    const fields = Object.fromEntries(
      named.map(({ name, schema }) => {
        const known = ids[`${path} ${name}`];
        const values = valuesOf(schema);
        return [name, known === undefined ? values : fc.oneof(fc.constant(known), values)];
      }),
    );
    return fc.record(fields, { requiredKeys: named.filter(({ required }) => required).map(({ name }) => name) });
  };
  const bodies = body === null ? fc.constant(undefined) : valuesOf(body.schema);
  // A URL takes these two as steps, escaped or not: no client can name what is called so.
  const isStep = (value: unknown): boolean => value === "." || value === "..";
  const params = record("path").filter((values) => !Object.values(values).some(isStep));
  return fc.record({ params, query: record("query"), body: bodies });
}

interface Answer {
  readonly address: string;
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

async function send(url: string, { method, path }: Operation, { params, query, body }: Request): Promise<Answer> {
  const at = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])) || "0");
  const flat = Object.entries(query).flatMap(([name, value]): [string, string][] => {
    if (Array.isArray(value)) return [[name, value.join(",")]];
    // A parameter of style form that is exploded: each member is a parameter of its own.
    if (typeof value === "object" && value !== null)
      return Object.entries(value).map(([key, each]) => [key, String(each)]);
    return [[name, String(value)]];
  });
  const search = new URLSearchParams(flat).toString();
  const address = search === "" ? at : `${at}?${search}`;
  const content =
    body === undefined || method === "GET"
      ? {}
      : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  const answer = await fetch(`${url}${address}`, { method, ...content, signal: AbortSignal.timeout(answerMsMax) });
  const text = await answer.text();
  const isJson = answer.headers.get("content-type")?.includes("json") === true;
  return { address, status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text };
}

/** Rules between parameters, and the largest duration, which a schema cannot say. */
const beyondSchema = /must be at most|due is for jobs that wait|must name something/;

/** Statuses by which a server says that the request as such is wrong: one that its document allows is not. */
const refusesForm = new Set([400, 405, 415]);

/** What the document allows, with a text in a place of its own or another thing in its body that no client should send. */
function spoiledOf(request: Request, { parameters }: Operation): fc.Arbitrary<Request> {
  const names = parameters.filter((each) => each.in === "query").map(({ name }) => name);
  const inQuery = fc.record({ name: fc.constantFrom("notAParameter", ...names), text: texts });
  const inPath = fc.record({ name: fc.constantFrom("", ...Object.keys(request.params)), text: texts });
  return fc.oneof(
    inQuery.map(({ name, text }) => ({ ...request, query: { ...request.query, [name]: text } })),
    inPath.map(({ name, text }) => ({ ...request, params: { ...request.params, [name]: text } })),
    ...(request.body === undefined ? [] : [spoiled(request.body).map((body) => ({ ...request, body }))]),
  );
}

/** What answers are wrong by the document, or errors of the server, of so many requests to each operation. */
async function fuzz(target: Target): Promise<readonly string[]> {
  const ids = await prepareIds(target);
  const documentation = documented(target.document);
  const findings = new Set<string>();
  for (const operation of operationsOf(target.document).filter(({ name }) => !streams.has(name))) {
    const judge = async (request: Request, isValid: boolean): Promise<void> => {
      const { address, status, headers, body } = await send(target.url, operation, request);
      const shown = `${operation.name}: ${operation.method} ${address.slice(0, 200)} ${JSON.stringify(request.body ?? null).slice(0, 300)} -> ${status}`;
      if (status >= 500) throw new Error(`${shown} is an error of the server`);
      const isBeyond = beyondSchema.test(JSON.stringify(body));
      if (isValid && refusesForm.has(status) && !isBeyond)
        throw new Error(`${shown} ${JSON.stringify(body).slice(0, 300)}, which the document allows`);
      documentation.check(operation.method, address, { status, headers }, body);
    };
    const valid = requestsOf(operation, ids);
    const odd = valid.chain((request) => spoiledOf(request, operation));
    for (const [requests, isValid] of [
      [valid, true],
      [odd, false],
    ] as const) {
      const check = fc.asyncProperty(requests, (request) => judge(request, isValid));
      const { failed, errorInstance } = await fc.check(check, { numRuns: runsEach, endOnFailure: true });
      if (failed) findings.add(errorInstance instanceof Error ? errorInstance.message : String(errorInstance));
    }
  }
  return [...findings, ...(await wrongMethods(target))];
}

/** A method that a path does not have is 405 with those there are. */
async function wrongMethods({ url, document }: Target): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
      if (method.toLowerCase() in methods) continue;
      const address = path.replaceAll(/\{\w+\}/g, "1");
      // `/jobs/counts` is also `/jobs/{id}` for another method.
      if (
        Object.entries(document.paths).some(
          ([other, each]) =>
            method.toLowerCase() in each && new RegExp(`^${other.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(address),
        )
      )
        continue;
      const answer = await fetch(`${url}${address}`, { method });
      await answer.body?.cancel();
      if (answer.status !== 405 || answer.headers.get("allow") === null)
        found.push(`${method} ${path} answered ${answer.status}, allow: ${answer.headers.get("allow")}`);
    }
  }
  return found;
}

const faults = {
  "a count is negative": (target: Target) =>
    faultyServer(target, {
      after: (given, { path }) =>
        path.startsWith("/bulk") ? { ...given, body: given.body.replace('"refused":0', '"refused":-5') } : given,
    }),
  "an odd text is an error of the server": (target: Target) =>
    faultyServer(target, {
      before: ({ path }) => (/%[C-F]/.test(path) ? { status: 500, body: { code: "internal" } } : null),
    }),
  "a wrong method is not found": (target: Target) =>
    faultyServer(target, { after: (given) => (given.status === 405 ? { ...given, status: 404 } : given) }),
  "a member that is not documented": (target: Target) =>
    faultyServer(target, {
      after: (given, { path }) =>
        path.startsWith("/lanes") ? { ...given, body: given.body.replace("{", '{"more":1,') } : given,
    }),
} satisfies Check["faults"];

export const fuzzCheck: Check = { name: "fuzzer from the document", run: fuzz, faults };
