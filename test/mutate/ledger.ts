import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { at, type Verdict } from "./kept.ts";

/** What is known of a mutant, from the run that judged it last. */
export interface Judged {
  readonly is: Verdict["is"];
  /** The commit, shortened, whose tests judged it. */
  readonly commit: string;
}

export type Ledger = ReadonlyMap<string, Judged>;

const letters = { k: "killed", h: "hung", s: "survived", u: "unreached", i: "invalid", "=": "same" } as const;
const letterOf = new Map(Object.entries(letters).map(([letter, is]) => [is, letter]));

/**
 * A line for each mutant that was judged: key, letter, commit. A key is the hash of a place's text, so a line stays true
 * until the place changes, and several runs add up to a whole one. Not committed: a report of CI, or of this machine.
 * @throws Error that names the first line which is none.
 */
export function readLedger(path = at("judged.txt")): Map<string, Judged> {
  if (!existsSync(path)) return new Map();
  const lines = readFileSync(path, "utf8").split("\n").filter(Boolean);
  return new Map(
    lines.map((line, index): [string, Judged] => {
      const [, key = "", letter = "", commit = ""] = /^([0-9a-f]{12}) ([khsui=]) ([0-9a-f]{8})$/.exec(line) ?? [];
      if (key === "") throw new Error(`${path}:${index + 1}: ${JSON.stringify(line)} is not "KEY LETTER COMMIT"`);
      return [key, { is: letters[letter as keyof typeof letters], commit }];
    }),
  );
}

/**
 * Adds verdicts to the file and leaves out keys that no mutant has any more. Read again each time: another run may have
 * added some.
 * @returns all that the file now says.
 */
export function addToLedger(
  added: Ledger,
  everyKey: ReadonlySet<string>,
  path = at("judged.txt"),
): Map<string, Judged> {
  const all = new Map([...readLedger(path), ...added].filter(([key]) => everyKey.has(key)));
  const lines = [...all]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, { is, commit }]) => `${key} ${letterOf.get(is)} ${commit}\n`);
  writeFileSync(`${path}.new`, lines.join(""));
  renameSync(`${path}.new`, path);
  return all;
}
