import fc from "fast-check";
import { expect, test } from "vitest";
import { openApi } from "./harness.ts";

/** Text that has broken parsers, queries, logs and terminals before. */
const nasty = fc.constantFrom(
  "",
  "0",
  "-1",
  "9223372036854775807",
  "9223372036854775808",
  "1e400",
  "' or 1=1 --",
  "'; drop table belfry.job; --",
  "<script>alert(1)</script>",
  "a\r\nset-cookie: x",
  "\u001b[31mred",
  "\u0000",
  "\ud800",
  "__proto__",
  "constructor",
  "../../etc/passwd",
  "%00",
  "{}",
  "null",
  "x".repeat(600),
  "2026-11-21T08:00:00Z",
  "10m",
);
const known = fc.constantFrom(
  "ping",
  "greet",
  "default",
  "FAILED",
  "queued,pending",
  "newest",
  "due",
  "1",
  "50",
  "true",
);
const text = fc.oneof(nasty, known, fc.string({ unit: "binary", maxLength: 20 }));
const value = fc.oneof(
  { maxDepth: 3 },
  text,
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.array(text, { maxLength: 3 }),
);

const headers = { host: "127.0.0.1", "content-type": "application/json" };

const read = async (response: Response, path: string): Promise<unknown> =>
  path === "/metrics" && response.ok ? await response.text() : await response.json();

test("5,000 random requests are each answered with what is wrong, and never with an error of the API", async () => {
  const opened = await openApi();
  for (let n = 0; n < 5; n += 1) await opened.call("POST", "/jobs", { kind: "ping", key: `k${n}` });
  const document = (await opened.call("GET", "/openapi.json")).body as unknown as {
    paths: Record<string, Record<string, { parameters: { name: string; in: string }[]; requestBody?: unknown }>>;
  };
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters }]) => ({ path, method: method.toUpperCase(), parameters })),
  );
  const fields = fc.constantFrom(
    "kind",
    "payload",
    "key",
    "delay",
    "dueAt",
    "filter",
    "action",
    "pace",
    "dryRun",
    "cron",
    "every",
    "id",
    "from",
    "to",
  );
  const request = fc.record({
    operation: fc.constantFrom(...operations),
    path: fc.oneof(fc.constant("1"), text),
    query: fc.dictionary(fc.oneof(fc.nat(12).map(String), text), text, { maxKeys: 3 }),
    body: fc.oneof(
      fc.dictionary(fields, fc.oneof(value, fc.dictionary(fields, value, { maxKeys: 3 })), { maxKeys: 5 }),
      value,
    ),
  });
  const statuses = new Map<number, number>();
  const asked = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(request, async ({ operation, path, query, body }) => {
      const at = operation.path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(path.toWellFormed()) || "0");
      const names = operation.parameters.filter((each) => each.in === "query").map((each) => each.name);
      const search = new URLSearchParams(
        Object.entries(query).map(([name, text]): [string, string] => [
          names[Number(name)] ?? name.toWellFormed(),
          text.toWellFormed(),
        ]),
      );
      const name = `${operation.method} ${operation.path}`;
      asked.set(name, (asked.get(name) ?? 0) + 1);
      const content =
        operation.method === "GET" ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) };
      const response = await opened.api.fetch(
        new Request(`http://127.0.0.1${at}?${search.toString()}`, { method: operation.method, headers, ...content }),
      );
      const answer = { status: response.status, type: response.headers.get("content-type") };
      // The one page that is no JSON is held to its format elsewhere.
      const good = operation.path === "/metrics" ? /^text\/plain/ : /^application\/json$/;
      opened.documentation.check(operation.method, at, response, await read(response, operation.path));
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      expect(answer.status).toBeLessThan(500);
      expect(answer.type).toMatch(answer.status >= 400 ? /^application\/problem\+json$/ : good);
    }),
    { numRuns: 5_000 },
  );
  expect(asked.size).toBe(operations.length);
  expect(Math.min(...asked.values())).toBeGreaterThan(30);
  // A test of refusals that refuses everything, or nothing, shows little.
  expect(statuses.get(200)).toBeGreaterThan(100);
  expect(statuses.get(400)).toBeGreaterThan(1_000);
}, 240_000);
