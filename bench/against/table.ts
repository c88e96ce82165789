import { okOr, rowsTable, shown } from "../table.ts";
import type { Comparison } from "./compare.ts";

const units: Readonly<Record<Comparison["quantity"], string>> = {
  perSecond: "jobs/s",
  cpuUs: "us of Postgres CPU a job",
  walBytes: "bytes of WAL a job",
  statements: "statements a job",
  heapOnly: "of updates heap-only",
};

/** The comparison for people. A rate may fall, and all else may grow, by its bar. */
export const comparisonTable = (comparisons: readonly Comparison[], commit: string): string =>
  rowsTable(
    ["bench", "", ">here", `>${commit}`, ">ratio", ">roof", ">bar", ""],
    comparisons.map(({ name, quantity, here, there, ratio, roof, bar, pass }) => [
      name,
      units[quantity],
      quantity === "heapOnly" ? percent(here) : shown(here, 3),
      quantity === "heapOnly" ? percent(there) : shown(there, 3),
      Number.isFinite(ratio) ? `${ratio.toFixed(2)} x` : "-",
      roof === null ? "-" : shown(roof, 3),
      bar === null ? "-" : quantity === "perSecond" ? `>= ${(1 / bar).toFixed(2)} x` : `<= ${bar} x`,
      bar === null ? "" : okOr(pass),
    ]),
  );

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
