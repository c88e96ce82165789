import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Verdict } from "./kept.ts";

/** What is known of a mutant, from the run that judged it last. */
export interface Judged {
  readonly is: Verdict["is"];
  /** The commit, shortened, whose tests judged it. */
  readonly commit: string;
}

export type Ledger = ReadonlyMap<string, Judged>;

const letters = { k: "killed", h: "hung", s: "survived", u: "unreached", i: "invalid", "=": "same" } as const;
const letterOf = new Map(Object.entries(letters).map(([letter, is]) => [is, letter]));

const committed = fileURLToPath(new URL("judged.txt", import.meta.url));

/**
 * A line for each mutant that was judged: key, letter, commit. A key is the hash of a place's text, so a line stays true
 * until the place changes, and the runs of days add up to a whole one.
 * @throws Error that names the first line which is none.
 */
export function readLedger(path = committed): Map<string, Judged> {
  const lines = readFileSync(path, "utf8").split("\n").filter(Boolean);
  return new Map(
    lines.map((line, at): [string, Judged] => {
      const [, key = "", letter = "", commit = ""] = /^([0-9a-f]{12}) ([khsui=]) ([0-9a-f]{8})$/.exec(line) ?? [];
      if (key === "") throw new Error(`${path}:${at + 1}: ${JSON.stringify(line)} is not "KEY LETTER COMMIT"`);
      return [key, { is: letters[letter as keyof typeof letters], commit }];
    }),
  );
}

/**
 * Adds verdicts to the file and leaves out keys that no mutant has any more. Read anew each time: another run may have
 * added some.
 * @returns all that the file now says.
 */
export function addToLedger(added: Ledger, everyKey: ReadonlySet<string>, path = committed): Map<string, Judged> {
  const all = new Map([...readLedger(path), ...added].filter(([key]) => everyKey.has(key)));
  const lines = [...all]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, { is, commit }]) => `${key} ${letterOf.get(is)} ${commit}\n`);
  writeFileSync(`${path}.new`, lines.join(""));
  renameSync(`${path}.new`, path);
  return all;
}

const isSurvivor = ({ is }: Judged): boolean => is === "survived" || is === "unreached";

/** Survivors without a reason. */
export const openOnes = (ledger: Ledger, reasons: ReadonlySet<string>): string[] =>
  [...ledger].flatMap(([key, judged]) => (isSurvivor(judged) && !reasons.has(key) ? [key] : []));

/** What `docs/guarantees.md` says of the ledger. A text that Postgres refuses, or that stays the same, is no mutant. */
export function published(ledger: Ledger, reasons: ReadonlySet<string>): string {
  const mutants = [...ledger.values()].filter(({ is }) => is !== "invalid" && is !== "same");
  const survivors = mutants.filter(isSurvivor).length;
  const open = openOnes(ledger, reasons).length;
  const share = ((100 * survivors) / Math.max(1, mutants.length)).toFixed(1);
  return `${mutants.length} judged, ${mutants.length - survivors} found, ${survivors} survived (${share} %): ${survivors - open} with a reason, ${open} open`;
}
