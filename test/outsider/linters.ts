import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Spectral } from "@stoplight/spectral-core";
import { oas } from "@stoplight/spectral-rulesets";
import type { Check } from "./check.ts";
import type { Target } from "./world.ts";

/** What redocly's strict rules find in a document: one line each, with its place. */
async function redoclyFindings(document: object): Promise<readonly string[]> {
  const config = await createConfig({ extends: ["recommended-strict"] });
  const found = await lintFromString({ source: JSON.stringify(document), config });
  return found.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer ?? ""} ${message}`);
}

/** A licence is named by an identifier or an address; no mailbox answers for it; the order of tags has a meaning. */
const unwanted = { "license-url": "off", "contact-properties": "off", "openapi-tags-alphabetical": "off" };

/** What all rules of spectral but three find in a document, warnings too. */
async function spectralFindings(document: object): Promise<readonly string[]> {
  const spectral = new Spectral();
  spectral.setRuleset({ extends: [[oas, "all"]], rules: unwanted } as unknown as Parameters<Spectral["setRuleset"]>[0]);
  const found = await spectral.run(JSON.stringify(document));
  return found.map(({ code, path, message }) => `${code} ${path.join(".")} ${message}`);
}

/** A document with one operation that has no id. */
function withoutId<D extends { readonly paths: Target["document"]["paths"] }>(document: D): D {
  const { operationId: _, ...list } = document.paths["/jobs"]?.["get"] ?? {};
  return { ...document, paths: { ...document.paths, "/jobs": { ...document.paths["/jobs"], get: list } } };
}

const faults = {
  "an operation without an id": (target: Target) => ({ target: { ...target, document: withoutId(target.document) } }),
};

export const linterChecks: readonly Check[] = [
  { name: "redocly", run: ({ document }) => redoclyFindings(document), faults },
  { name: "spectral", run: ({ document }) => spectralFindings(document), faults },
];
