import Table from "cli-table3";
import pc from "picocolors";
import type { Comparison } from "./compare.ts";

const units: Readonly<Record<Comparison["quantity"], string>> = {
  perSecond: "jobs/s",
  cpuUs: "us of Postgres CPU a job",
  walBytes: "bytes of WAL a job",
  statements: "statements a job",
  heapOnly: "of updates heap-only",
};

/** The comparison for people. A rate may fall, and all else may grow, by its bar. */
export function comparisonTable(comparisons: readonly Comparison[], commit: string): string {
  const rows = new Table({
    head: ["bench", "", "here", commit, "ratio", "roof", "bar", ""],
    colAligns: ["left", "left", "right", "right", "right", "right", "right", "left"],
    style: { head: [], border: [] },
  });
  for (const { name, quantity, here, there, ratio, roof, bar, pass } of comparisons) {
    rows.push([
      name,
      units[quantity],
      quantity === "heapOnly" ? percent(here) : shown(here),
      quantity === "heapOnly" ? percent(there) : shown(there),
      Number.isFinite(ratio) ? `${ratio.toFixed(2)} x` : "-",
      roof === null ? "-" : shown(roof),
      bar === null ? "-" : quantity === "perSecond" ? `>= ${(1 / bar).toFixed(2)} x` : `<= ${bar} x`,
      bar === null ? "" : pass ? pc.green("ok") : pc.red("missed"),
    ]);
  }
  return rows.toString();
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

const shown = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString("en-US") : value.toFixed(value >= 10 ? 1 : 3);
