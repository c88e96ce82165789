import { expect, test } from "vitest";
import { importsOf, readSource, sourceFiles } from "./imports.ts";

type Graph = ReadonlyMap<string, readonly string[]>;

/** Every circle of files that import each other, types too: who changes one of them has to understand all. */
function circlesOf(graph: Graph): readonly string[] {
  const finished = new Set<string>();
  const found: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    const seen = path.indexOf(file);
    if (seen >= 0) found.push([...path.slice(seen), file].join(" -> "));
    if (seen >= 0 || finished.has(file)) return;
    for (const target of graph.get(file) ?? []) visit(target, [...path, file]);
    finished.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  return found;
}

test("no files of the product import each other in a circle", () => {
  const files = sourceFiles().filter((file) => !/^(test|bench)\//.test(file));
  const graph = new Map(
    files.map((file) => [
      file,
      importsOf(file, readSource(file))
        .filter((each) => !each.isPackage)
        .map((each) => each.target),
    ]),
  );
  expect(files.length).toBeGreaterThan(100);
  expect(circlesOf(graph)).toEqual([]);
});

test("a circle is found with its path", () => {
  const graph: Graph = new Map([
    ["a.ts", ["b.ts"]],
    ["b.ts", ["c.ts"]],
    ["c.ts", ["b.ts", "d.ts"]],
  ]);
  expect(circlesOf(graph)).toEqual(["b.ts -> c.ts -> b.ts"]);
});
