import { readdirSync, readFileSync } from "node:fs";
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

const guides = readdirSync(`${root}docs/guides`).filter((name) => !name.endsWith(".ko.md"));
const examples = ["batch-scheduler", "daily-quiz", "dag-batch", "taskflow", "time-capsule"];
const pages = [
  "README.md",
  "docs/index.md",
  "docs/tutorial.md",
  ...guides.map((name) => `docs/guides/${name}`),
  ...examples.map((name) => `examples/${name}/README.md`),
];
const read = (page: string): readonly Shared[] => blocksOf(readFileSync(`${root}${page}`, "utf8"));
const inKorean = (page: string): string => page.replace(/\.md$/, ".ko.md");

test.each(pages)("%s has its headings and blocks in Korean, in order", (page) => {
  const [english, korean] = [read(page), read(inKorean(page))];
  expect(korean.map(({ kind, rows }) => `${kind} ${rows}`)).toEqual(english.map(({ kind, rows }) => `${kind} ${rows}`));
});

test.each(pages)("%s shows the same code, commands, files and addresses in Korean, block by block", (page) => {
  expect(read(inKorean(page))).toEqual(read(page));
});

test("there are two commands to set it up with, each whole: one runs the product, one its tests", () => {
  const setUp = read("README.md").flatMap(({ code }) => /^npm ci.*$/m.exec(code ?? "")?.[0] ?? []);
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
    .map(([name]) => name.replace(/\.ko\.md(#[^)]+)?\)$/, ".md$1)"))
    .filter((name) => !name.startsWith("](README"))
    .toSorted();
}
