import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** One line: what the push service was asked and did, or a user who left. */
export interface Entry {
  readonly at: string;
  /** The idempotency key of the call; empty for a user who left. */
  readonly key: string;
  readonly user: number;
  readonly day: string;
  /** `repeated`: the same key again, delivered before. `lost`: delivered, and the answer did not get through. */
  readonly outcome: "sent" | "repeated" | "lost" | "gone" | "busy" | "throttled" | "hung" | "left";
}

export interface Ledger {
  /** Written to the file before it returns: the line outlives a kill of this process. */
  append(entry: Omit<Entry, "at">): void;
  /** How often this call was answered before, kills and restarts included. */
  calls(key: string): number;
  wasDelivered(key: string): boolean;
}

const fileOf = (home: string, name: string): string => join(home, `${name}.jsonl`);

export function openLedger(home: string, name: string): Ledger {
  const calls = new Map<string, number>();
  const delivered = new Set<string>();
  const add = ({ key, outcome }: Pick<Entry, "key" | "outcome">): void => {
    calls.set(key, (calls.get(key) ?? 0) + 1);
    if (outcome === "sent" || outcome === "lost") delivered.add(key);
  };
  readLedger(home, name).forEach(add);
  return {
    append(entry) {
      appendFileSync(fileOf(home, name), `${JSON.stringify({ at: new Date().toISOString(), ...entry })}\n`);
      add(entry);
    },
    calls: (key) => calls.get(key) ?? 0,
    wasDelivered: (key) => delivered.has(key),
  };
}

/** Every whole line; a last line cut by a kill is left out. */
export function readLedger(home: string, name: string): readonly Entry[] {
  const file = fileOf(home, name);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Entry);
}

/** The folder given by the starter. */
export function home(): string {
  const folder = process.env["STAND_IN_HOME"];
  if (!folder) throw new Error("STAND_IN_HOME is not set: name a folder for the ledger");
  return folder;
}
