import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

export interface Operation {
  readonly operationId: string;
  readonly "x-role": string;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly schema: object;
  }[];
  readonly tags: readonly string[];
  readonly description: string;
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, Documented | { readonly $ref: string }>>;
}

export interface Documented {
  readonly description: string;
  readonly content: Content;
}

type Content = Readonly<Record<string, { readonly schema: object }>>;

export interface OpenApiDocument {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>;
    readonly responses: Readonly<Record<string, Documented>>;
  };
}

/**
 * Holds answers to the OpenAPI document itself, by a JSON Schema validator that knows nothing of what made the document. A
 * member that it does not name is as wrong as one that is missing.
 */
export function documented(document: OpenApiDocument) {
  const seen = new Set<string>();
  const operations = Object.entries(document.paths).flatMap(([path, methods]) => {
    const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
    return Object.keys(methods).map((method) => ({ method, path, pattern, name: `${method.toUpperCase()} ${path}` }));
  });
  const find = (asked: string, pathname: string) => {
    const found = operations.filter(({ method, pattern }) => method === asked.toLowerCase() && pattern.test(pathname));
    // A literal path wins over one with a parameter, as in the router.
    return found.find(({ path }) => path === pathname) ?? found[0];
  };
  const validate = validators.get(document) ?? validator(document);
  validators.set(document, validate);
  /** Where no operation answers. */
  const refusal = { content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } } };
  const described = Object.values(document.paths).flatMap((methods) => Object.entries(methods));
  return {
    operations: described.map(([method, { operationId, responses }]) => ({
      name: operationId,
      method: method.toUpperCase(),
      statuses: Object.keys(responses),
    })),
    /** The operations that answered as asked so far. */
    seen,
    nameOf: (method: string, pathname: string): string => find(method, pathname)?.name ?? "no operation",
    check(
      method: string,
      path: string,
      { status, headers }: Pick<Response, "status" | "headers">,
      body: unknown,
    ): void {
      // What an app answers on its own routes is the app's; that there is no such route is said in the same form everywhere.
      if (path.startsWith("/apps/")) return;
      const hit = find(method, new URL(path, "http://x").pathname);
      if (hit === undefined && status < 400) return;
      const type = headers.get("content-type")?.split(";")[0] ?? "";
      const what = `${method} ${path} ${status} ${type}`;
      const isRoute = hit !== undefined && status !== 405 && (body as { code?: unknown }).code !== "no-such-route";
      const answer = isRoute ? document.paths[hit.path]?.[hit.method]?.responses[String(status)] : refusal;
      const at = answer === undefined ? undefined : responseIn(document, answer);
      const schema = at?.content[type]?.schema;
      if (schema === undefined) throw new Error(`${what} is not documented`);
      validate(schema, body, what);
      if (status < 400 && hit !== undefined) seen.add(hit.name);
    },
  };
}

/** The response itself, also where it is pointed at. */
export function responseIn(
  { components }: OpenApiDocument,
  response: { readonly content: Content } | { readonly $ref: string },
): { readonly content: Content } {
  if (!("$ref" in response)) return response.content === undefined ? { ...response, content: {} } : response;
  const found = components.responses[response.$ref.replace("#/components/responses/", "")];
  if (found === undefined) throw new Error(`${response.$ref} leads nowhere`);
  return found;
}

/** Of each document one. */
const validators = new WeakMap<OpenApiDocument, ReturnType<typeof validator>>();

/** Validators by their schema, made when they are first asked for. */
function validator({ components }: OpenApiDocument) {
  const ajv = strictAjv();
  const made = new Map<object, ValidateFunction>();
  return (schema: object, value: unknown, what: string): void => {
    const check = made.get(schema) ?? ajv.compile({ ...schema, components });
    made.set(schema, check);
    if (!check(value)) throw new Error(`${what}: ${ajv.errorsText(check.errors)} in ${JSON.stringify(value)}`);
  };
}

/** Refuses every keyword that JSON Schema 2020-12 does not know, but for the place of OpenAPI's schemas. */
export function strictAjv(): Ajv2020 {
  const ajv = new Ajv2020({ strictTypes: false, allErrors: true }).addVocabulary(["components"]);
  for (const name of ["int64", "double", "email"]) ajv.addFormat(name, true);
  return ajv.addFormat("date-time", (text) => !Number.isNaN(Date.parse(text)));
}
