import { expect, test } from "vitest";
import { codesOf } from "../../src/api/openapi.ts";
import { problemCodes } from "../../src/api/problem-codes.ts";
import { redoclyFindings, spectralFindings, withoutId } from "../outsider/linters.ts";
import { document, endpoints } from "./document.ts";
import type { OpenApiDocument } from "./documented.ts";

const linters = { redocly: redoclyFindings, spectral: spectralFindings };

test.each(["redocly", "spectral"] as const)(
  "%s, which users run, finds nothing in the document, and what was planted in it",
  async (name) => {
    expect(await linters[name](document)).toEqual([]);
    const planted = withoutId(document as unknown as OpenApiDocument);
    const text = JSON.stringify(planted).replace('"pace":"5/s"', '"pace":5');
    const found = (await linters[name](JSON.parse(text) as object)).join("\n");
    expect(found).toMatch(/operation-operationId/);
    expect(found).toContain("example");
  },
);

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
