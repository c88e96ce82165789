import { z } from "zod";
import { ifMatchPattern, keyPattern } from "./conditional.ts";
import type { Endpoint } from "./endpoint.ts";
import { apiDate } from "./plain-headers.ts";
import { type ProblemCode, problemCodes, statusOf } from "./problem-codes.ts";
import { problem } from "./problem.ts";

type Json = Record<string, unknown>;

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

/** The OpenAPI 3.1 document of these endpoints, from the same schemas that read requests and that tests hold replies to. */
export function openApi(endpoints: readonly Endpoint[], version: string): Json {
  const schemas = new Map<string, Json>();
  const responses: Record<string, Json> = {};
  const paths: Record<string, Json> = {};
  for (const each of endpoints) {
    const path = each.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [each.method.toLowerCase()]: operation(each, { schemas, responses }) };
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
    servers: [
      { url: "http://127.0.0.1:4400", description: "The local system" },
      {
        url: "https://{id}.lambda-url.{region}.on.aws",
        description: "A deployed stage",
        variables: { id: { default: "id", description: "Of the function URL" }, region: { default: "eu-west-1" } },
      },
    ],
    // The local system takes requests of this machine unsigned.
    security: [{ sigv4: [] }, {}],
    tags: tags.map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: Object.fromEntries([...schemas].toSorted(([a], [b]) => (a < b ? -1 : 1))),
      responses,
      headers,
      securitySchemes: {
        sigv4: {
          type: "apiKey",
          in: "header",
          name: "authorization",
          description: "AWS Signature Version 4 of the service `lambda`, by a role that may invoke the function URL.",
        },
      },
    },
  };
}

const header = (description: string, schema: Json): Json => ({ description, schema });
const headers = {
  RequestId: header("Names the request in the audit and the log.", { type: "string" }),
  Version: header("The version of the API that answered.", { type: "string", examples: [apiDate] }),
  Location: header("Where the thing that was made is.", { type: "string" }),
  ETag: header("The version of the schedule, for `If-Match`.", { type: "string", examples: ['"3"'] }),
  Link: header("The next page, relative to the request (RFC 8288).", { type: "string" }),
  Replayed: header("`true`: an earlier request with this key made it.", { type: "string" }),
  RetryAfter: header("Seconds to wait before it is sent again.", { type: "string" }),
} as const;

const pointTo = (name: keyof typeof headers): Json => ({ $ref: `#/components/headers/${name}` });
const always = { "x-request-id": pointTo("RequestId"), "belfry-version": pointTo("Version") };

/** What several operations share. */
interface Shared {
  readonly schemas: Map<string, Json>;
  readonly responses: Record<string, Json>;
}

function operation(each: Endpoint, shared: Shared): Json {
  const { schemas } = shared;
  const streamed = each.streams === undefined ? {} : { [each.streams]: { schema: { type: "string" } } };
  const replies = Object.entries(each.replies).map(([status, schema]): [string, Json] => {
    const content = { "application/json": { schema: reference(schema, schemas) }, ...streamed };
    return [status, { description: meaningOf(each, status), headers: headersOf(each, status, schema), content }];
  });
  if (replies.length === 0) replies.push(["200", { description: "As text", headers: always, content: streamed }]);
  return {
    operationId: each.name,
    summary: each.summary,
    description: each.description ?? `${each.summary}.`,
    tags: [tagOf(each)],
    "x-role": each.role,
    parameters: [...parameters(each, "path"), ...parameters(each, "query"), ...headerParameters(each)],
    ...(each.body === undefined ? {} : { requestBody: requestBody(each, each.body) }),
    responses: { ...Object.fromEntries(replies), ...refusals(each, shared) },
  };
}

const meanings: Readonly<Record<string, string>> = {
  200: "As it is now",
  201: "It was made",
  202: "It was begun: follow it at its `Location`",
};

const meaningOf = ({ method }: Endpoint, status: string): string =>
  method === "GET" ? "What was asked for" : (meanings[status] ?? "As asked");

function headersOf(each: Endpoint, status: string, schema: z.ZodType): Json {
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
    ...(["invalid-request", "not-storable", "unknown-caller", "foreign-host", "foreign-origin"] as const),
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
function refusals(each: Endpoint, { schemas, responses }: Shared): Json {
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

function refusal(status: number, codes: readonly ProblemCode[], schemas: Map<string, Json>): Json {
  const schema = { allOf: [reference(problem, schemas), { type: "object", properties: { code: { enum: codes } } }] };
  const description = codes.map((code) => `\`${code}\`: ${problemCodes[code][1]}`).join("\n\n");
  const more = status === 503 ? { "retry-after": pointTo("RetryAfter") } : {};
  return { description, headers: { ...always, ...more }, content: { "application/problem+json": { schema } } };
}

function requestBody(each: Endpoint, schema: z.ZodType): Json {
  const example = each.example?.body;
  const { $schema: _, ...shape } = z.toJSONSchema(schema, asInput);
  const content = { schema: shape, ...(example === undefined ? {} : { example }) };
  return { required: !schema.safeParse({}).success, content: { "application/json": content } };
}

/** What a parameter looks like to a client may be said beside what reads its text: `meta({ as })`. */
const asInput = {
  io: "input",
  unrepresentable: "any",
  override({ jsonSchema }: { jsonSchema: Json }) {
    const { as, description, default: usual } = jsonSchema;
    if (typeof as !== "object") return;
    for (const name of Object.keys(jsonSchema)) delete jsonSchema[name];
    const kept = {
      ...(description === undefined ? {} : { description }),
      ...(usual === undefined ? {} : { default: usual }),
    };
    Object.assign(jsonSchema, kept, as);
  },
} as const;

/** As the document and the command line's help show them. */
export interface Parameter extends Json {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
  /** JSON Schema. */
  readonly schema: Json;
}

export function parameters(each: Endpoint, where: "path" | "query"): readonly Parameter[] {
  const schema = where === "path" ? each.params : each.query;
  if (schema === undefined) return [];
  const { properties, required, additionalProperties } = z.toJSONSchema(schema, asInput);
  const examples = each.example?.[where === "path" ? "params" : "query"];
  const named = Object.entries(properties ?? {}).map(([name, property]) => {
    const { description, ...rest } = property as Json & { readonly description?: string };
    const example = examples?.[name];
    return {
      name,
      in: where,
      description: description ?? `Only with this ${name}.`,
      required: where === "path" || required?.includes(name) === true,
      ...(rest["type"] === "array" ? { style: "form", explode: false } : {}),
      schema: rest,
      ...(example === undefined ? {} : { example: valueOf(example, rest["type"]) }),
    };
  });
  return typeof additionalProperties === "object" ? [...named, payloadParameter] : named;
}

const valueOf = (text: string, type: unknown): unknown =>
  type === "integer" ? Number(text) : type === "array" ? text.split(",") : text;

/** Exploded, so that each member becomes a parameter of its own: `payload.user.id=42`. */
const payloadParameter = {
  name: "payload",
  in: "query",
  description: "Members of the payload by their path, compared as text: `payload.user.id=42`. At most three.",
  required: false,
  style: "form",
  explode: true,
  schema: {
    type: "object",
    propertyNames: { pattern: String.raw`^payload(\.[^.]{1,100}){1,8}$` },
    additionalProperties: { type: "string", minLength: 1, maxLength: 1_000 },
    maxProperties: 3,
  },
};

const headerParameters = ({ takesKey, hasVersion, method }: Endpoint): readonly Json[] => [
  ...(takesKey === true ? [keyParameter] : []),
  ...(hasVersion === true && method !== "GET" ? [versionParameter] : []),
];

const keyParameter = {
  name: "idempotency-key",
  in: "header",
  description: "As the `key` of the body: a second request with it makes nothing.",
  required: false,
  schema: { type: "string", pattern: keyPattern },
  example: "first-hello",
};

const versionParameter = {
  name: "if-match",
  in: "header",
  description: "Refuses the change with 412 when the schedule has another version.",
  required: false,
  schema: { type: "string", pattern: ifMatchPattern },
  example: '"1"',
};

/** A tuple is an array of a fixed length: generators for Python know no `prefixItems`. */
const asOutput = {
  io: "output",
  unrepresentable: "any",
  reused: "inline",
  override({ jsonSchema }: { jsonSchema: Json }) {
    const { prefixItems } = jsonSchema;
    if (!Array.isArray(prefixItems)) return;
    delete jsonSchema["prefixItems"];
    Object.assign(jsonSchema, { items: prefixItems[0], minItems: prefixItems.length, maxItems: prefixItems.length });
  },
} as const;

/** Schemas with a name, this one too, are written once among the components and pointed at. */
function reference(schema: z.ZodType, schemas: Map<string, Json>): Json {
  const { $defs = {}, $schema: _, id, ...root } = z.toJSONSchema(schema, asOutput);
  for (const [name, each] of Object.entries($defs)) schemas.set(name, named(each));
  if (id === undefined) return named(root);
  schemas.set(id, named(root));
  return { $ref: `#/components/schemas/${id}` };
}

/** Definitions move to where OpenAPI keeps them. */
function named(schema: Json): Json {
  const { id: _id, ...rest } = schema;
  return JSON.parse(JSON.stringify(rest).replaceAll("#/$defs/", "#/components/schemas/")) as Json;
}
