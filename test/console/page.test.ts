import { beforeAll, expect, test } from "vitest";
import type { PageFiles } from "../../src/api/console.ts";
import { bundleConsole } from "../../src/compose/bundle-console.ts";

let files: PageFiles = new Map();

beforeAll(async () => {
  files = await bundleConsole();
});

test("the page's files load with less than 60 KB: what the first screen needs, compressed", () => {
  const first = new TextDecoder().decode(files.get("index.html")?.bytes);
  const linked = [...first.matchAll(/(?:src|href)="\/console\/([^"]+)"/g)].map((match) => match[1] ?? "");
  const all = new Set([...linked, ...linked.flatMap((name) => staticImports(name))]);
  const bytes = [...all].reduce((sum, name) => sum + (files.get(name)?.gzip.byteLength ?? Infinity), 0);
  expect(linked.length).toBeGreaterThanOrEqual(2);
  expect(bytes).toBeLessThan(60_000);
});

/** Files that one loads at once; those it loads later are named in `import(...)`. */
function staticImports(name: string): readonly string[] {
  const text = new TextDecoder().decode(files.get(name)?.bytes);
  return [...text.matchAll(/(?:import|from)"\.\/([^"]+)"/g)].map((match) => match[1] ?? "");
}
