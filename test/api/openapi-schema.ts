/**
 * What OpenAPI 3.1 asks of the objects that our document uses, as JSON Schema 2020-12, written from the specification
 * (https://spec.openapis.org/oas/v3.1.0). It is closed: an object or member that is new in the document is looked up there
 * and added here.
 */
const text = { type: "string", minLength: 1 };
const closed = (properties: object, required: readonly string[]): object => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
/** An object, or true and false; what is inside is compiled by itself. */
const schema = { type: ["object", "boolean"] };
const content = {
  type: "object",
  minProperties: 1,
  propertyNames: { pattern: "^[a-z]+/[a-z.+-]+$" },
  additionalProperties: closed({ schema, example: {} }, ["schema"]),
};
const headers = {
  type: "object",
  additionalProperties: closed({ $ref: { type: "string", pattern: "^#/components/headers/" } }, ["$ref"]),
};
const parameter = {
  ...closed(
    {
      name: text,
      in: { enum: ["path", "query", "header"] },
      description: text,
      required: { type: "boolean" },
      style: { const: "form" },
      explode: { type: "boolean" },
      schema,
      example: {},
    },
    ["name", "in", "description", "required", "schema"],
  ),
  // A part of the path is never left out.
  if: { properties: { in: { const: "path" } } },
  // oxlint-disable-next-line unicorn/no-thenable -- it is the keyword's name
  then: { properties: { required: { const: true } } },
};
/** Only what the client holds already comes without content: a 304. */
const response = (...required: readonly string[]) =>
  closed({ description: text, headers, content, links: { type: "object" } }, ["description", "headers", ...required]);
const operation = closed(
  {
    operationId: { type: "string", pattern: "^[a-z][a-zA-Z]+$" },
    summary: text,
    description: text,
    tags: { type: "array", items: text, minItems: 1, maxItems: 1 },
    "x-role": { enum: ["read", "operate"] },
    parameters: { type: "array", items: parameter },
    requestBody: closed({ required: { type: "boolean" }, content }, ["content"]),
    responses: {
      type: "object",
      minProperties: 1,
      propertyNames: { pattern: "^[1-5]\\d\\d$" },
      properties: { 304: response() },
      additionalProperties: {
        anyOf: [
          response("content"),
          closed({ $ref: { type: "string", pattern: "^#/components/responses/" } }, ["$ref"]),
        ],
      },
    },
  },
  ["operationId", "summary", "description", "tags", "parameters", "responses"],
);

const named = (each: object): object => ({
  type: "object",
  propertyNames: { pattern: "^[a-zA-Z0-9._-]+$" },
  additionalProperties: each,
});
const method = { get: operation, post: operation, put: operation, patch: operation, delete: operation };

export const openApiSchema = closed(
  {
    openapi: { type: "string", pattern: "^3\\.1\\.\\d+$" },
    info: closed(
      { title: text, version: text, description: text, license: { type: "object" }, contact: { type: "object" } },
      ["title", "version"],
    ),
    servers: { type: "array", minItems: 1, items: { type: "object", required: ["url", "description"] } },
    security: { type: "array", items: { type: "object" } },
    tags: { type: "array", items: closed({ name: text, description: text }, ["name", "description"]) },
    paths: { type: "object", propertyNames: { pattern: "^/" }, additionalProperties: closed(method, []) },
    components: closed(
      {
        schemas: named(schema),
        responses: named(response("content")),
        headers: named(closed({ description: text, schema }, ["description", "schema"])),
        securitySchemes: named({ type: "object", required: ["type", "description"] }),
      },
      [],
    ),
  },
  ["openapi", "info", "servers", "security", "tags", "paths", "components"],
);
