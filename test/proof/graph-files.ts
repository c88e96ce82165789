import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** One task of a recorded workflow. */
export interface RecordedTask {
  readonly name: string;
  readonly seconds: number;
  readonly after: readonly string[];
}

/** Names of the graphs in a folder. */
export const graphFiles = (dir: string): readonly string[] =>
  readdirSync(dir)
    .filter((name) => name.endsWith(".json"))
    .toSorted();

/** Nodes are `[id, runtime in seconds, [parents by index]]`, in no particular order. */
export function readGraphFile(dir: string, file: string): readonly RecordedTask[] {
  const { nodes } = JSON.parse(readFileSync(join(dir, file), "utf8")) as { nodes: [string, number, number[]][] };
  return nodes.map(([name, seconds, parents]) => ({
    name,
    seconds,
    after: parents.map((parent) => nodes[parent]?.[0] ?? `parent ${parent} of ${name}`),
  }));
}
