import { expect, test } from "vitest";
import type { AdmissionGate } from "../../src/admission/gate.ts";
import { gates } from "../../src/admission/gates.ts";
import { reasons } from "../../src/machine/reasons.ts";
import { readSource, sourceFiles } from "./imports.ts";

const own = "src/admission/";
/** What all gates share. */
const shared = ["gate", "gates", "order", "slots"];
const files = sourceFiles().filter((file) => file.startsWith(own));
const names = files.map((file) => file.slice(own.length, -".ts".length)).filter((name) => !shared.includes(name));

test("each gate is one file of its name, and each file one gate of the list", async () => {
  const exported = await Promise.all(
    names.map(async (name) => {
      const all = (await import(`../../src/admission/${name}.ts`)) as Record<string, unknown>;
      return Object.entries(all).flatMap(([key, value]) => (key.endsWith("Gate") ? [value as AdmissionGate] : []));
    }),
  );
  expect(exported.map((each) => each.map(({ name }) => name))).toEqual(names.map((name) => [name]));
  expect(new Set(exported.flat())).toEqual(new Set(gates));
});

test("each reason is of one gate only, or of gates that share its words, and is a stored reason", () => {
  const all = gates.flatMap(({ refuses }) => Object.entries(refuses));
  const wordsOf = Map.groupBy(all, ([reason]) => reason);
  expect([...wordsOf].filter(([, each]) => new Set(each.map(([, words]) => words)).size > 1)).toEqual([]);
  expect(Object.values(reasons)).toEqual(expect.arrayContaining([...wordsOf.keys()]));
});

test("each gate has its row in docs/how-it-works.md", () => {
  const rows = [...readSource("docs/how-it-works.md").matchAll(/^\| `([a-z-]+)` \|.*$/gm)].map(([, name]) => name);
  expect(rows.filter((name) => gates.some((gate) => gate.name === name))).toEqual(gates.map(({ name }) => name));
});

/** The order of waiting work, where it is spelled out. */
const spelled = /order by (\w+\.)?due_at, (\w+\.)?id\b|\((\w+\.)?due_at, (\w+\.)?id\) [<>]/;

test("the order of waiting work stands in one place", () => {
  const places = sourceFiles().filter((file) => file.startsWith("src/") && spelled.test(readSource(file)));
  expect(places).toEqual([]);
  expect("order by j.due_at, j.id limit 1").toMatch(spelled);
  expect("(h.due_at, h.id) < (j.due_at, j.id)").toMatch(spelled);
});
