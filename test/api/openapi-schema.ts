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
  additionalProperties: closed({ schema }, ["schema"]),
};
const parameter = {
  ...closed({ name: text, in: { enum: ["path", "query"] }, required: { type: "boolean" }, schema }, [
    "name",
    "in",
    "required",
    "schema",
  ]),
  // A part of the path is never left out.
  if: { properties: { in: { const: "path" } } },
  // oxlint-disable-next-line unicorn/no-thenable -- it is the keyword's name
  then: { properties: { required: { const: true } } },
};
const operation = closed(
  {
    operationId: text,
    summary: text,
    tags: { type: "array", items: text },
    "x-role": { enum: ["read", "operate"] },
    parameters: { type: "array", items: parameter },
    requestBody: closed({ required: { type: "boolean" }, content }, ["content"]),
    responses: {
      type: "object",
      minProperties: 1,
      propertyNames: { pattern: "^([1-5]\\d\\d|default)$" },
      additionalProperties: closed({ description: text, content }, ["description"]),
    },
  },
  ["operationId", "summary", "responses"],
);

export const openApiSchema = closed(
  {
    openapi: { type: "string", pattern: "^3\\.1\\.\\d+$" },
    info: closed({ title: text, version: text, description: text }, ["title", "version"]),
    paths: {
      type: "object",
      propertyNames: { pattern: "^/" },
      additionalProperties: closed({ get: operation, post: operation, put: operation, delete: operation }, []),
    },
    components: closed(
      {
        schemas: { type: "object", propertyNames: { pattern: "^[a-zA-Z0-9._-]+$" }, additionalProperties: schema },
      },
      [],
    ),
  },
  ["openapi", "info", "paths", "components"],
);
