import { z } from "zod";
import type { JobDefinition } from "../define/definition.ts";
import { type Endpoint, needsBody } from "./endpoint.ts";
import { asInput, headerParameters, type OpenApiPart, parameters } from "./parameters.ts";
import { apiDate } from "./guard.ts";
import { type ProblemCode, problemCodes, statusOf } from "./problem-codes.ts";
import { problem } from "./problem.ts";

/** What the operations are about, and the first parts of their paths; the rest is of the system. */
export const tags = [
  ["jobs", "One row each: a kind, a payload and a state. Every change of state is an event.", "jobs"],
  ["runs", "Jobs that belong together: the tasks of a graph or the targets of a fan-out.", "runs"],
  [
    "schedules",
    "When a job is to run, and the policies for clock changes, misfires and overlaps.",
    "schedules schedule-outcomes upcoming night preview",
  ],
  ["lanes", "Queues with their workers and limits, caps and locks.", "lanes caps locks"],
  ["bulk", "One change of many jobs, chosen by a filter, in pages.", "bulk dead-letters"],
  ["events", "What happened, live or page by page.", "events audits"],
  ["system", "Whether it works, and what it is made of.", ""],
] as const;

export const tagOf = ({ path }: Pick<Endpoint, "path">): string =>
  tags.find(([, , resources]) => resources.split(" ").includes(path.split("/")[1] ?? ""))?.[0] ?? "system";

export interface Described {
  readonly version: string;
  /** Whether requests are signed; the local system takes those of this machine as they are. */
  readonly isSigned: boolean;
  /** What its reader may enqueue. */
  readonly kinds: readonly JobDefinition[];
}

/** The OpenAPI 3.1 document of these endpoints, from the same schemas that read requests and that tests hold replies to. */
export function openApi(endpoints: readonly Endpoint[], { version, isSigned, kinds }: Described): OpenApiPart {
  const schemas = new Map<string, OpenApiPart>();
  const responses: Record<string, OpenApiPart> = {};
  const paths: Record<string, OpenApiPart> = {};
  for (const each of endpoints) {
    const path = each.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [each.method.toLowerCase()]: operation(each, { schemas, responses, kinds }) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Belfry",
      version,
      description: `Scheduled work on AWS that is never lost. API version ${apiDate}; docs/api.md shows each request with curl.`,
      license: { name: "All rights reserved", identifier: "LicenseRef-UNLICENSED" },
      contact: { name: "The operators of this stage", url: "https://github.com" },
    },
    ...servedAt("http://127.0.0.1:4400"),
    security: [isSigned ? { sigv4: [] } : {}],
    tags: tags.map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: Object.fromEntries([...schemas].toSorted(([a], [b]) => (a < b ? -1 : 1))),
      responses,
      headers,
      ...(isSigned ? { securitySchemes: { sigv4 } } : {}),
    },
  };
}

export const servedAt = (url: string) => ({ servers: [{ url, description: "What served this document" }] });

const sigv4 = {
  type: "apiKey",
  in: "header",
  name: "authorization",
  description: "AWS Signature Version 4 of the service `lambda`, by a role that may invoke the function URL.",
};

const header = (description: string, schema: OpenApiPart): OpenApiPart => ({ description, schema });
const headers = {
  RequestId: header("Names the request in the audit and the log.", { type: "string" }),
  Version: header("The version of the API that answered.", { type: "string", examples: [apiDate] }),
  Location: header("Where the thing that was made is.", { type: "string" }),
  ETag: header("The version of the schedule, for `If-Match`; of a read also its text, for `If-None-Match`.", {
    type: "string",
    examples: ['"3"'],
  }),
  Link: header("The next page, relative to the request (RFC 8288).", { type: "string" }),
  Replayed: header("`true`: an earlier request with this key made it.", { type: "string" }),
  RetryAfter: header("Seconds to wait before it is sent again.", { type: "string" }),
} as const;

const pointTo = (name: keyof typeof headers): OpenApiPart => ({ $ref: `#/components/headers/${name}` });
const always = { "x-request-id": pointTo("RequestId"), "belfry-version": pointTo("Version") };

interface Shared {
  readonly schemas: Map<string, OpenApiPart>;
  readonly responses: Record<string, OpenApiPart>;
  readonly kinds: readonly JobDefinition[];
}

function operation(each: Endpoint, shared: Shared): OpenApiPart {
  const { schemas } = shared;
  const streamed = each.streams === undefined ? {} : { [each.streams]: { schema: streamOf(each, schemas) } };
  const replies = Object.entries(each.replies).map(([status, schema]): [string, OpenApiPart] => {
    const content = { "application/json": { schema: reference(schema, schemas) }, ...streamed };
    const description = meaningOf(each, status);
    return [status, { description, headers: headersOf(each, status, schema), content, ...linksOf(each, schema) }];
  });
  if (each.hasVersion === true && each.method === "GET")
    replies.push([
      "304",
      { description: "As the `ETag` in `If-None-Match` names it", headers: headersOf(each, "304") },
    ]);
  if (replies.length === 0) replies.push(["200", { description: "As text", headers: always, content: streamed }]);
  return {
    operationId: each.name,
    summary: each.summary,
    description: each.description ?? `${each.summary}.`,
    tags: [tagOf(each)],
    "x-role": each.role,
    parameters: [...parameters(each, "path"), ...parameters(each, "query"), ...headerParameters(each)],
    ...(each.body === undefined ? {} : { requestBody: requestBody(each, each.body, shared) }),
    responses: { ...Object.fromEntries(replies), ...refusals(each, shared) },
  };
}

/** A text to every generator, which JSON Schema lets say what stands in it. */
const streamOf = ({ message }: Endpoint, schemas: Map<string, OpenApiPart>): OpenApiPart => ({
  type: "string",
  ...(message === undefined
    ? {}
    : { contentMediaType: "text/event-stream", contentSchema: reference(message, schemas) }),
});

/** What reads the thing that a write answers with, by the name of its schema. */
const readers: Readonly<Record<string, string>> = {
  CreatedJob: "getJob",
  JobDetail: "getJob",
  Triggered: "getJob",
  Run: "getRun",
  Schedule: "getSchedule",
  Bulk: "getBulk",
};

function linksOf({ method }: Endpoint, schema: z.ZodType): OpenApiPart {
  const reader = readers[schema.meta()?.id ?? ""];
  if (method === "GET" || reader === undefined) return {};
  return { links: { [reader]: { operationId: reader, parameters: { id: "$response.body#/id" } } } };
}

const meanings: Readonly<Record<string, string>> = {
  200: "As it is now",
  201: "It was made",
  202: "It was begun: follow it at its `Location`",
};

const meaningOf = ({ method }: Endpoint, status: string): string =>
  method === "GET" ? "What was asked for" : (meanings[status] ?? "As asked");

function headersOf(each: Endpoint, status: string, schema?: z.ZodType): OpenApiPart {
  const isPage = schema instanceof z.ZodObject && "nextCursor" in schema.shape;
  return {
    ...always,
    ...(status === "201" || status === "202" ? { location: pointTo("Location") } : {}),
    ...(each.hasVersion === true ? { etag: pointTo("ETag") } : {}),
    ...(each.takesKey === true ? { "idempotency-replayed": pointTo("Replayed") } : {}),
    ...(isPage ? { link: pointTo("Link") } : {}),
  };
}

/** What any endpoint may answer, by what it takes. */
export function codesOf(each: Endpoint): readonly ProblemCode[] {
  const takesBody: readonly ProblemCode[] = [
    ...(["bad-json", "bad-encoding", "body-cut-off", "too-deep", "too-many-keys"] as const),
    ...(["body-too-large", "not-json", "outcome-unknown"] as const),
  ];
  return [
    ...([
      "invalid-request",
      "not-storable",
      "unknown-caller",
      "foreign-host",
      "foreign-origin",
      "not-acceptable",
    ] as const),
    ...(each.role === "operate" ? (["needs-operate"] as const) : []),
    ...(each.scope === "nothing" ? [] : (["outside-scope"] as const)),
    "needs-reveal",
    ...(each.refuses ?? []),
    ...(each.method === "GET" ? [] : takesBody),
    ...(["internal", "store-away", "store-busy", "store-full"] as const),
  ];
}

/** Statuses whose codes are an operation's own. */
const own: ReadonlySet<number> = new Set([404, 409, 412, 422]);

/** The errors of each status, with the codes it may have; what all reads or all writes have alike is written once. */
function refusals(each: Endpoint, { schemas, responses }: Shared): OpenApiPart {
  const byStatus = Map.groupBy(new Set(codesOf(each)), statusOf);
  return Object.fromEntries(
    [...byStatus]
      .toSorted(([a], [b]) => a - b)
      .map(([status, codes]) => {
        if (own.has(status)) return [status, refusal(status, codes, schemas)];
        const name = `${each.method === "GET" ? "Read" : "Write"}${status}`;
        responses[name] ??= refusal(status, codes, schemas);
        return [status, { $ref: `#/components/responses/${name}` }];
      }),
  );
}

function refusal(status: number, codes: readonly ProblemCode[], schemas: Map<string, OpenApiPart>): OpenApiPart {
  const schema = {
    allOf: [reference(problem, schemas), { type: "object", properties: { code: { type: "string", enum: codes } } }],
  };
  const description = codes.map((code) => `\`${code}\`: ${problemCodes[code][1]}`).join("\n\n");
  const more = status === 503 ? { "retry-after": pointTo("RetryAfter") } : {};
  return { description, headers: { ...always, ...more }, content: { "application/problem+json": { schema } } };
}

function requestBody(each: Endpoint, schema: z.ZodType, shared: Shared): OpenApiPart {
  const example = each.example?.body;
  const { $schema: _, ...shape } = z.toJSONSchema(schema, asInput);
  const typed = each.byKind === undefined || shared.kinds.length === 0 ? shape : bodyByKind(each.byKind, shape, shared);
  const content = { schema: typed, ...(example === undefined ? {} : { example }) };
  return { required: needsBody(each), content: { "application/json": content } };
}

/**
 * A schema for each kind, with the payload that its definition asks for. The one value of `kind` says which it is: for a
 * `discriminator` generators of Rust write that member twice. It has a name, since oapi-codegen sends no union without one.
 */
function bodyByKind(
  union: NonNullable<Endpoint["byKind"]>,
  { properties, required: usually = [], ...shape }: OpenApiPart & { readonly required?: string[] },
  { kinds, schemas }: Shared,
): OpenApiPart {
  const { payload: usual, kind, ...others } = properties as Record<string, OpenApiPart>;
  const oneOf = kinds.map(({ id, schema }) => {
    const { $defs, properties: { payload } = {}, required = [] } = payloadOf(schema);
    const given = payload === undefined ? {} : { payload: { ...usual, ...payload } };
    const own = { kind: { type: "string", description: kind?.["description"], enum: [id] }, ...given, ...others };
    const name = `${union}-${id}`;
    schemas.set(name, inComponents({ ...shape, properties: own, required: [...usually, ...required] }, `${name}.`));
    for (const [part, each] of Object.entries($defs ?? {}))
      schemas.set(`${name}.${part}`, inComponents(each, `${name}.`));
    return { $ref: `#/components/schemas/${name}` };
  });
  const [only] = oneOf;
  if (only !== undefined && oneOf.length === 1) return only;
  schemas.set(union, { oneOf });
  return { $ref: `#/components/schemas/${union}` };
}

/** Only zod says what its schemas are. */
function payloadOf(schema: JobDefinition["schema"]): {
  $defs?: Record<string, OpenApiPart>;
  properties?: { payload?: OpenApiPart };
  required?: string[];
} {
  if (schema === null) return {};
  if (!(schema instanceof z.ZodType)) return { properties: { payload: {} } };
  return z.toJSONSchema(z.object({ payload: schema }), { io: "input", unrepresentable: "any" });
}

/**
 * A tuple is an array of a fixed length: generators for Python know no `prefixItems`. What has a format says so, for numbers
 * too: generators take others for 32 bits.
 */
const asOutput = {
  io: "output",
  unrepresentable: "any",
  reused: "inline",
  override({ jsonSchema }: { jsonSchema: OpenApiPart }) {
    const { prefixItems, type, format } = jsonSchema;
    if (type === "integer") jsonSchema["format"] = "int64";
    if (type === "number") jsonSchema["format"] = "double";
    if (format === "date-time") delete jsonSchema["pattern"];
    if (!Array.isArray(prefixItems)) return;
    delete jsonSchema["prefixItems"];
    Object.assign(jsonSchema, { items: prefixItems[0], minItems: prefixItems.length, maxItems: prefixItems.length });
  },
} as const;

/** Schemas with a name, this one too, are written once among the components and pointed at. */
function reference(schema: z.ZodType, schemas: Map<string, OpenApiPart>): OpenApiPart {
  const { $defs = {}, $schema: _, id, ...root } = z.toJSONSchema(schema, asOutput);
  for (const [name, each] of Object.entries($defs)) schemas.set(name, inComponents(each));
  if (id === undefined) return inComponents(root);
  schemas.set(id, inComponents(root));
  return { $ref: `#/components/schemas/${id}` };
}

/** Definitions move to where OpenAPI keeps them. */
function inComponents(schema: OpenApiPart, prefix = ""): OpenApiPart {
  const { id: _id, ...rest } = schema;
  return JSON.parse(JSON.stringify(rest).replaceAll("#/$defs/", `#/components/schemas/${prefix}`)) as OpenApiPart;
}
