import { z } from "zod";
import { ifMatchPattern, keyPattern } from "./conditional.ts";
import type { Endpoint } from "./endpoint.ts";

export type OpenApiPart = Record<string, unknown>;

/** What a parameter looks like to a client may be said beside what reads its text: `meta({ as })`. */
export const asInput = {
  io: "input",
  unrepresentable: "any",
  override({ jsonSchema }: { jsonSchema: OpenApiPart }) {
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
export interface Parameter extends OpenApiPart {
  readonly name: string;
  readonly in: string;
  readonly description: string;
  readonly required: boolean;
  readonly explode?: boolean;
  /** JSON Schema. */
  readonly schema: OpenApiPart;
}

export function parameters(each: Endpoint, where: "path" | "query"): readonly Parameter[] {
  const schema = where === "path" ? each.params : each.query;
  if (schema === undefined) return [];
  const { properties, required, additionalProperties } = z.toJSONSchema(schema, asInput);
  const examples = each.example?.[where === "path" ? "params" : "query"];
  const named = Object.entries(properties ?? {}).map(([name, property]) => {
    const { description, ...rest } = property as OpenApiPart & { readonly description?: string };
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

export const headerParameters = ({ takesKey, hasVersion, method, message }: Endpoint): readonly OpenApiPart[] => [
  ...(takesKey === true ? [keyParameter] : []),
  ...(hasVersion === true ? [method === "GET" ? heldParameter : versionParameter] : []),
  ...(message === undefined ? [] : [lastEventParameter]),
];

const inHeader = (name: string, description: string, schema: OpenApiPart = {}): OpenApiPart => ({
  name,
  in: "header",
  description,
  required: false,
  schema: { type: "string", ...schema },
});

const keyParameter = {
  ...inHeader("idempotency-key", "As the `key` of the body: a second request with it makes nothing.", {
    pattern: keyPattern,
  }),
  example: "first-hello",
};

const versionParameter = {
  ...inHeader("if-match", "Refuses the change with 412 when the schedule has another version.", {
    pattern: ifMatchPattern,
  }),
  example: '"1"',
};

const heldParameter = inHeader(
  "if-none-match",
  "The `ETag` of an earlier answer: 304 while it is still the same, word for word.",
);

const lastEventParameter = inHeader(
  "last-event-id",
  "The id of the last event that came, with which a stream goes on.",
);
