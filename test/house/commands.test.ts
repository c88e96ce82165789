import { expect, test } from "vitest";
import { exits } from "../../src/cli/exit.ts";
import { readSource, textFiles } from "./imports.ts";

const named = /npx belfry (?:--stage \S+ )?([a-z][a-z-]*)(?: ([a-z][a-z-]*))?/g;
/** `jobs list`, and those without a second word. */
const leaves = new Set(Object.keys(exits));
const groups = new Set([...leaves].filter((leaf) => leaf.includes(" ")).map((leaf) => leaf.split(" ")[0]));

/** What a text names and the command line does not have. */
const unknown = (text: string): readonly string[] =>
  [...text.matchAll(named)]
    .filter(([, first = "", second]) =>
      groups.has(first) ? second !== undefined && !leaves.has(`${first} ${second}`) : !leaves.has(first),
    )
    .map(([command]) => command);

test("each command that a text, a message or the page names exists", () => {
  const files = textFiles().filter((file) => !file.startsWith("test/"));
  expect(files.flatMap((file) => unknown(readSource(file)).map((command) => `${file}: ${command}`))).toEqual([]);
});

test("a command that went, and an action that a command does not have, are found", () => {
  expect(unknown("npx belfry logs --job 7")).toEqual(["npx belfry logs"]);
  expect(unknown("`npx belfry --stage prod jobs remove 7`")).toEqual(["npx belfry --stage prod jobs remove"]);
  expect(unknown("npx belfry jobs show 7, npx belfry schedules, npx belfry explain 7")).toEqual([]);
});
