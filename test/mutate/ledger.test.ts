import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { functionHit, instrumented } from "./instrument.ts";
import { accepted } from "./kept.ts";
import { addToLedger, type Judged, openOnes, published, readLedger } from "./ledger.ts";
import { filesOf, mutatedFiles } from "./places.ts";
import { statementTexts } from "./statements.ts";

const killed: Judged = { is: "killed", commit: "01234567" };
const [a, b, c] = ["aaaaaaaaaaaa", "bbbbbbbbbbbb", "cccccccccccc"] as const;

function file(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "belfry-ledger-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "judged.txt"), text);
  return join(folder, "judged.txt");
}

test("verdicts of several runs add up, sorted, and those of places that are gone leave", () => {
  const path = file(`${b} s 01234567\n${c} k 01234567\n`);
  const added = new Map<string, Judged>([[a, killed]]);
  expect([...addToLedger(added, new Set([a, b]), path).keys()]).toEqual([b, a]);
  expect(readFileSync(path, "utf8")).toBe(`${a} k 01234567\n${b} s 01234567\n`);
});

test("a verdict replaces the one before it", () => {
  const path = file(`${a} s 01234567\n`);
  addToLedger(new Map([[a, killed]]), new Set([a]), path);
  expect(readLedger(path).get(a)).toEqual(killed);
});

test("a line that is none is named", () => {
  expect(() => readLedger(file(`${a} k 01234567\n${b} killed\n`))).toThrow(/judged\.txt:2: "bbbbbbbbbbbb killed"/);
});

test("a survivor is open until it has a reason", () => {
  const ledger = new Map<string, Judged>([
    [a, killed],
    [b, { is: "survived", commit: "01234567" }],
    [c, { is: "unreached", commit: "01234567" }],
  ]);
  expect(openOnes(ledger, new Set([c]))).toEqual([b]);
  expect(published(ledger, new Set([c]))).toBe("3 judged, 1 found, 2 survived (66.7 %): 1 with a reason, 1 open");
});

test("docs/guarantees.md says what the ledger says, and each reason is of a survivor", () => {
  const ledger = readLedger();
  const reasons = accepted().map(({ key }) => key);
  expect(readFileSync("docs/guarantees.md", "utf8")).toContain(published(ledger, new Set(reasons)));
  expect(reasons.filter((key) => !["survived", "unreached"].includes(ledger.get(key)?.is ?? ""))).toEqual([]);
});

test("a coverage run sees which statement is sent and which function is entered", () => {
  const sends = "src/adapters/postgres/statement.ts";
  expect(instrumented(sends, readFileSync(sends, "utf8"), false)).toContain("add(`sql:${name}`)");
  const [first = ""] = mutatedFiles().filter((name) => name.endsWith("job/decide.ts"));
  expect(instrumented(first, readFileSync(first, "utf8"), true)).toContain(functionHit(first, "decide"));
});

test("a pattern that finds no file is refused: what it stood for would be left out unseen", () => {
  expect(() => filesOf("src/api/roles*.ts")).toThrow("no file is src/api/roles*.ts");
  expect(mutatedFiles()).toEqual(
    expect.arrayContaining(["src/api/caller.ts", "src/api/scope.ts", "src/core/job/decide.ts"]),
  );
});

test("the texts of all statements are known", async () => {
  expect(Object.keys((await statementTexts(null)) ?? {}).length).toBeGreaterThan(150);
});
