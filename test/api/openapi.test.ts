import { defineApp } from "../../src/define/define-app.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { expect, test } from "vitest";
import { z } from "zod";
import { codesOf } from "../../src/api/openapi.ts";
import { problemCodes } from "../../src/api/problem-codes.ts";
import { type OpenApiDocument, type Operation, responseIn, strictAjv } from "./documented.ts";
import { document as described, endpoints } from "./document.ts";
import { openApi } from "./harness.ts";

const app = defineApp({ name: "tests", jobs: [defineJob({ id: "ping", run() {} })], schedules: [] });

const host = "127.0.0.1:4400";

test("a foreign member or type of an answer is found", async () => {
  const { api, documentation } = await openApi([app]);
  const answer = await api.fetch(new Request("http://127.0.0.1/jobs", { headers: { host } }));
  const body = (await answer.json()) as object;
  const check = (status: number, type: string, value: object) => () =>
    documentation.check("GET", "/jobs", { status, headers: new Headers({ "content-type": type }) }, value);
  expect(check(200, "application/json", body)).not.toThrow();
  expect(check(200, "application/json", { ...body, more: 1 })).toThrow("additional properties");
  expect(check(200, "application/json", { ...body, jobs: {} })).toThrow("must be array");
  expect(check(200, "text/html", body)).toThrow("is not documented");
  expect(check(202, "application/json", body)).toThrow("is not documented");
  expect(check(500, "application/problem+json", body)).toThrow("must have required property");
});

test("the app has no route that the document does not name, but the document itself", async () => {
  const { api, call } = await openApi([app]);
  const document = (await call("GET", "/openapi.json")).body as unknown as OpenApiDocument;
  const named = namesOf(document).map((name) => name.replaceAll(/\{(\w+)\}/g, ":$1"));
  // Guards go before every route, whatever the method.
  const routes = api.routes.filter(({ method }) => method !== "ALL").map(({ method, path }) => `${method} ${path}`);
  expect(routes.toSorted()).toEqual([...named, "GET /openapi.json"].toSorted());
});

test("the schemas of the document are JSON Schema, and every reference leads somewhere", async () => {
  const { call } = await openApi();
  const document = (await call("GET", "/openapi.json")).body as unknown as OpenApiDocument;
  const ajv = strictAjv();
  const { components, paths } = document;
  const operations = Object.values(paths).flatMap((each) => Object.values(each));
  expect(new Set(operations.map((each) => each["x-role"]))).toEqual(new Set(["read", "operate"]));
  const ofPaths = operations.flatMap(({ parameters }) => parameters.filter((each) => each.in === "path"));
  expect(ofPaths.filter(({ required }) => !required)).toEqual([]);
  const schemas = operations.flatMap((each) => schemasOf(document, each));
  expect(schemas.length).toBeGreaterThan(100);
  // Compiling holds a schema to the meta-schema of 2020-12 and follows its references.
  ajv.compile({ anyOf: schemas, components });
  for (const [name, schema] of Object.entries(components.schemas))
    expect({ name, ...schema }).not.toHaveProperty("$ref");
  expect(JSON.stringify(document)).not.toContain("$defs");
});

test("no member of an answer is renamed, dropped or of another type than members.txt says", async () => {
  const text = Object.entries((described as unknown as OpenApiDocument).components.schemas)
    .map(([name, schema]) => `${name}: ${membersOf(schema)}\n`)
    .join("");
  await expect(text).toMatchFileSnapshot("./members.txt");
});

test("a document has the address and the kinds of its reader: a payload for each, one type in each place", async () => {
  const payload: z.ZodType = z.object({ to: z.email(), copies: z.array(z.lazy(() => payload)).optional() });
  const mail = defineJob({ id: "mail", payload, run() {} });
  const apps = [app, defineApp({ name: "mails", jobs: [mail], schedules: [] })];
  const { call } = await openApi(apps);
  const served = (await call("GET", "/openapi.json")).body as unknown as OpenApiDocument & { servers: unknown };
  expect(served.servers).toMatchObject([{ url: "http://127.0.0.1" }]);
  const body = (document: OpenApiDocument) =>
    document.paths["/jobs"]?.["post"]?.requestBody?.content["application/json"]?.schema ?? {};
  const fits = strictAjv().compile({ ...body(served), components: served.components });
  expect(fits({ kind: "mail", payload: { to: "a@b.org", copies: [{ to: "c@d.org" }] }, key: "k" })).toBe(true);
  for (const wrong of [{ kind: "mail" }, { kind: "mail", payload: { to: 1 } }, { kind: "ping", payload: {} }])
    expect(fits(wrong)).toBe(false);
  const schedule = served.paths["/schedules"]?.["post"]?.requestBody?.content["application/json"]?.schema ?? {};
  const schedules = strictAjv().compile({ ...schedule, components: served.components });
  const daily = { id: "daily", cron: "0 8 * * *", timezone: "UTC" };
  expect(schedules({ ...daily, kind: "mail", payload: { to: "a@b.org" } })).toBe(true);
  expect(schedules({ ...daily, kind: "mail", payload: { to: 1 } }) || schedules({ kind: "ping" })).toBe(false);
  const caller = { name: "ada", role: "operate", scope: { apps: ["tests"] } } as const;
  const scoped = (await (await openApi(apps, { caller })).call("GET", "/openapi.json")).body;
  expect(scoped).toMatchObject({ components: { schemas: { "NewJob-ping": {} } } });
  expect(JSON.stringify(scoped)).not.toContain("NewJob-mail");
  const unions = JSON.stringify(served).match(/"type":\[(?!"\w+","null"\])[^\]]+/g);
  expect(unions).toBeNull();
});

interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

/** `id string, key string|null, tags? string[]`. */
const membersOf = ({ properties = {}, required = [] }: JsonSchema): string =>
  Object.entries(properties)
    .map(([name, schema]) => `${name}${required.includes(name) ? "" : "?"} ${typeOf(schema)}`)
    .toSorted()
    .join(", ");

function typeOf(schema: JsonSchema): string {
  const { $ref, type, anyOf, items, properties } = schema;
  if ($ref !== undefined) return $ref.replace("#/components/schemas/", "");
  if (anyOf !== undefined) return anyOf.map(typeOf).join("|");
  if (items !== undefined) return `${typeOf(items)}[]`;
  if (properties !== undefined) return `{ ${membersOf(schema)} }`;
  return [type ?? "any"].flat().join("|");
}

const schemasOf = (document: OpenApiDocument, { parameters, requestBody, responses }: Operation): readonly object[] => [
  ...parameters.map(({ schema }) => schema),
  ...[
    ...(requestBody === undefined ? [] : [requestBody]),
    ...Object.values(responses).map((each) => responseIn(document, each)),
  ]
    .flatMap(({ content }) => Object.values(content))
    .map(({ schema }) => schema),
];

const namesOf = ({ paths }: OpenApiDocument): readonly string[] =>
  Object.entries(paths).flatMap(([path, each]) => Object.keys(each).map((method) => `${method.toUpperCase()} ${path}`));

test("every code is the answer of some endpoint, or of no endpoint at all", () => {
  const named = new Set(endpoints.flatMap(codesOf));
  expect(Object.keys(problemCodes).filter((code) => !named.has(code as keyof typeof problemCodes))).toEqual([
    "bad-http",
    "no-such-route",
    "method-not-allowed",
    "request-too-slow",
    "headers-too-large",
  ]);
});
