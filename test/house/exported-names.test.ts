import { expect, test } from "vitest";
import { readSource, sourceFiles } from "./imports.ts";

const declared =
  /^export (?:declare )?(?:async )?(?:abstract )?(?:const|let|function\*?|class|interface|type|enum) ([\w$]+)/gm;

/** Names that more than one file exports. Overloads in one file are one name. */
function twice(files: readonly { readonly file: string; readonly text: string }[]): readonly string[] {
  const filesOf = Map.groupBy(
    files.flatMap(({ file, text }) =>
      [...new Set([...text.matchAll(declared)].map(([, name = ""]) => name))].map((name) => ({ name, file })),
    ),
    ({ name }) => name,
  );
  return [...filesOf]
    .filter(([, all]) => all.length > 1)
    .map(([name]) => name)
    .toSorted();
}

const found = twice(
  sourceFiles()
    .filter((file) => file.startsWith("src/"))
    .map((file) => ({ file, text: readSource(file) })),
);

test("no name is exported by two files of src", () => {
  expect(found).toEqual([]);
});

test("a name that is exported twice is found where it is planted", () => {
  const text = "export async function load() {}\nexport interface Loaded {}\n";
  expect(
    twice([
      { file: "a.ts", text },
      { file: "b.ts", text },
    ]),
  ).toEqual(["Loaded", "load"]);
  expect(twice([{ file: "a.ts", text: text + text }])).toEqual([]);
});
