import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** What both pages must share of a block: its kind, its code, its rows, and every command, file and address in it. */
interface Shared {
  readonly kind: string;
  readonly code: string | null;
  readonly rows: number;
  readonly names: readonly string[];
}

const [english, korean] = ["README.md", "README.ko.md"].map((name) => blocksOf(readFileSync(`${root}${name}`, "utf8")));

test("the Korean README has the headings and blocks of the English one, in order", () => {
  expect(korean?.map(({ kind, rows }) => `${kind} ${rows}`)).toEqual(
    english?.map(({ kind, rows }) => `${kind} ${rows}`),
  );
  expect(english?.filter(({ kind }) => kind === "##").length).toBeGreaterThan(8);
});

test("it shows the same code, commands, files and addresses, block by block", () => {
  expect(korean).toEqual(english);
});

test("there are two commands to set it up with, each whole: one runs the product, one its tests", () => {
  const setUp = english?.flatMap(({ code }) => /^npm ci.*$/m.exec(code ?? "")?.[0] ?? []);
  expect(setUp).toEqual(["npm ci && npm start", "npm ci && npm test"]);
});

function blocksOf(markdown: string): readonly Shared[] {
  const whole = /```[\s\S]*?^```$|<picture>[\s\S]*?<\/picture>|[^\n]+(?:\n(?!```|\n)[^\n]+)*/gm;
  return [...markdown.matchAll(whole)].map(([text]) => {
    const kind = /^(#+|```\w*|<picture>|\|)/.exec(text)?.[0] ?? "paragraph";
    const code = kind.startsWith("```") || kind === "<picture>" ? text : null;
    return {
      kind,
      code,
      rows: kind === "|" ? text.split("\n").length : 0,
      names: code === null ? namesIn(text) : [],
    };
  });
}

/** Each page names the other. */
function namesIn(text: string): readonly string[] {
  return [...text.matchAll(/`[^`]+`|\]\([^)]+\)|<http[^>]+>/g)]
    .map(([name]) => name)
    .filter((name) => !name.startsWith("](README"))
    .toSorted();
}
