import { z } from "zod";
import type { Endpoint } from "./endpoint.ts";
import { problem } from "./shape/shape.ts";

type Json = Record<string, unknown>;

/** The OpenAPI 3.1 document of these endpoints, from the same schemas that read requests and that tests hold replies to. */
export function openApi(endpoints: readonly Endpoint[], version: string): Json {
  const schemas = new Map<string, Json>();
  const paths: Record<string, Json> = {};
  for (const each of endpoints) {
    const path = each.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [each.method.toLowerCase()]: operation(each, schemas) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Belfry", version, description: "Scheduled work on AWS that is never lost." },
    paths,
    components: { schemas: Object.fromEntries([...schemas].toSorted(([a], [b]) => (a < b ? -1 : 1))) },
  };
}

function operation(each: Endpoint, schemas: Map<string, Json>): Json {
  const streamed = each.streams === undefined ? {} : { [each.streams]: { schema: { type: "string" } } };
  const answer = (content: Json): Json => ({ description: "as asked", content: { ...content, ...streamed } });
  const replies = Object.entries(each.replies).map(([status, schema]) => {
    return [status, answer({ "application/json": { schema: reference(schema, schemas) } })] as const;
  });
  const refused = { "application/problem+json": { schema: reference(problem, schemas) } };
  const body = each.body === undefined ? {} : { requestBody: { required: true, content: input(each.body) } };
  return {
    operationId: `${each.method.toLowerCase()} ${each.path}`,
    summary: each.summary,
    tags: [each.path.split("/")[1] ?? ""],
    "x-role": each.role,
    parameters: [...parameters(each.params, "path"), ...parameters(each.query, "query")],
    ...body,
    responses: {
      ...Object.fromEntries(replies.length > 0 ? replies : [["200", answer({})]]),
      default: { description: "refused, and why", content: refused },
    },
  };
}

const input = (schema: z.ZodType): Json => ({ "application/json": { schema: plain(z.toJSONSchema(schema, asInput)) } });

const asInput = { io: "input", unrepresentable: "any" } as const;

function parameters(schema: z.ZodType | undefined, where: "path" | "query"): readonly Json[] {
  if (schema === undefined) return [];
  const { properties, required } = z.toJSONSchema(schema, asInput);
  return Object.entries(properties ?? {}).map(([name, each]) => ({
    name,
    in: where,
    required: where === "path" || required?.includes(name) === true,
    schema: each,
  }));
}

/** Schemas with a name, this one too, are written once among the definitions and pointed at. */
function reference(schema: z.ZodType, schemas: Map<string, Json>): Json {
  const { $defs, ...root } = plain(z.toJSONSchema(schema, { io: "output", unrepresentable: "any" }));
  for (const [name, each] of Object.entries(($defs ?? {}) as Record<string, Json>)) schemas.set(name, named(each));
  return named(root);
}

function plain(schema: Json): Json {
  const { $schema: _dialect, ...rest } = schema;
  return rest;
}

/** Definitions move to where OpenAPI keeps them. */
function named(schema: Json): Json {
  const { id: _id, ...rest } = schema;
  return JSON.parse(JSON.stringify(rest).replaceAll("#/$defs/", "#/components/schemas/")) as Json;
}
