import { createConfig, lintFromString } from "@redocly/openapi-core";
import { expect, test } from "vitest";
import { document, endpoints } from "./document.ts";
import { codesOf } from "../../src/api/document/openapi.ts";
import { problemCodes } from "../../src/api/problem-codes.ts";

async function found(source: object): Promise<readonly string[]> {
  const config = await createConfig({ extends: ["recommended-strict"] });
  const problems = await lintFromString({ source: JSON.stringify(source), config });
  return problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer ?? ""} ${message}`);
}

test("the linter that users run finds nothing in the document", async () => {
  expect(await found(document)).toEqual([]);
});

test("the linter finds an operation without an id, and an example that its schema refuses", async () => {
  const { paths } = document as { paths: Record<string, Record<string, { parameters: { name: string }[] }>> };
  const { operationId: _, ...list } = (paths["/jobs"]?.["get"] ?? {}) as { operationId?: string };
  const planted = { ...document, paths: { ...paths, "/jobs": { ...paths["/jobs"], get: list } } };
  expect((await found(planted)).join("\n")).toContain("operation-operationId");
  const text = JSON.stringify(document).replace('"pace":"200ms"', '"pace":200');
  expect((await found(JSON.parse(text) as object)).join("\n")).toContain("example");
});

test("every code is the answer of some endpoint, or of no endpoint at all", () => {
  const named = new Set(endpoints.flatMap(codesOf));
  expect(Object.keys(problemCodes).filter((code) => !named.has(code as keyof typeof problemCodes))).toEqual([
    "no-such-route",
    "method-not-allowed",
  ]);
});
