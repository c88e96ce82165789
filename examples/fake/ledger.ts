import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** One line of a ledger: what a target saw and what it answered. */
export interface NewEntry {
  /** Of the effect: the idempotency key of the call. */
  readonly key: string;
  /** In the target's own words: `accepted`, `refused`. */
  readonly outcome: string;
  readonly [detail: string]: string | number | undefined;
}

export interface Entry extends NewEntry {
  readonly at: string;
}

export interface Ledger {
  /** Written to the file before it returns: the line outlives a kill of this process. */
  append(entry: NewEntry): void;
  /** What the target was given, whole: a file beside the ledger, named by the key, to be looked at. */
  keep(key: string, ending: string, text: string): void;
  /** How often this key got this outcome, kills and restarts included. */
  count(key: string, outcome: string): number;
}

export const ledgerFile = (home: string, name: string): string => join(home, `${name}.jsonl`);

const copyFile = (home: string, key: string, ending: string): string =>
  join(home, `${key.replaceAll(/[^\w.@-]/g, "")}.${ending}`);

export const readCopy = (home: string, key: string, ending: string): string =>
  readFileSync(copyFile(home, key, ending), "utf8");

export function openLedger(home: string, name: string): Ledger {
  const file = ledgerFile(home, name);
  const counts = new Map<string, number>();
  const add = ({ key, outcome }: NewEntry): unknown =>
    counts.set(`${outcome} ${key}`, (counts.get(`${outcome} ${key}`) ?? 0) + 1);
  readLedger(home, name).forEach(add);
  return {
    append(entry) {
      appendFileSync(file, `${JSON.stringify({ at: new Date().toISOString(), ...entry })}\n`);
      add(entry);
    },
    keep: (key, ending, text) => writeFileSync(copyFile(home, key, ending), text),
    count: (key, outcome) => counts.get(`${outcome} ${key}`) ?? 0,
  };
}

/** Every whole line; a last line cut by a kill is left out. */
export function readLedger(home: string, name: string): readonly Entry[] {
  const file = ledgerFile(home, name);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Entry);
}
