import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
// Inside the package, so that `belfry` resolves; git ignores it.
const copies = `${root}.belfry/misuse-${process.pid}/`;
const sources = readdirSync(`${root}test/definitions`).filter((name) => name.endsWith(".test-d.ts"));
const directive = /^\s*\/\/ @ts-expect-error .*$/;

beforeAll(() => mkdirSync(copies, { recursive: true }));
afterAll(() => rmSync(copies, { recursive: true, force: true }));

function compile(text: (source: string) => string): { exit: number | null; errorLines: Map<string, number[]> } {
  for (const name of sources)
    writeFileSync(copies + name, text(readFileSync(`${root}test/definitions/${name}`, "utf8")));
  writeFileSync(`${copies}tsconfig.json`, JSON.stringify({ extends: `${root}tsconfig.json`, include: ["."] }));
  const tsc = spawnSync(`${root}node_modules/.bin/tsc`, ["--noEmit", "--pretty", "false", "-p", copies], {
    encoding: "utf8",
    env: { ...process.env, PATH: `${process.execPath.replace(/[^/]+$/, "")}:${process.env["PATH"] ?? ""}` },
  });
  const errorLines = new Map<string, number[]>(sources.map((name) => [name, []]));
  for (const [, name = "", line] of tsc.stdout.matchAll(/([\w.-]+\.test-d\.ts)\((\d+),\d+\): error/g)) {
    errorLines.get(name)?.push(Number(line));
  }
  return { exit: tsc.status, errorLines };
}

test("the documented use of the definition API compiles and every listed misuse does not", () => {
  expect(compile((source) => source)).toMatchObject({ exit: 0 });
});

test("each misuse is refused at its own line once the expectation of an error is taken away", () => {
  const { errorLines } = compile((source) =>
    source
      .split("\n")
      .map((line) => (directive.test(line) ? "" : line))
      .join("\n"),
  );
  for (const name of sources) {
    const lines = readFileSync(`${root}test/definitions/${name}`, "utf8").split("\n");
    const misuses = lines.flatMap((line, index) => (directive.test(line) ? [index + 2] : []));
    expect(misuses.length).toBeGreaterThan(15);
    expect([...new Set(errorLines.get(name))]).toEqual(misuses);
  }
});
