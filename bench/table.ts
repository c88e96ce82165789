import Table from "cli-table3";
import pc from "picocolors";
import type { Figure } from "./measure.ts";

/** The table for people. */
export function table(figures: readonly Figure[]): string {
  const rows = new Table({
    head: ["bench", "median", "min", "max", "roof", "ratio", "bar", ""],
    colAligns: ["left", "right", "right", "right", "right", "right", "right", "left"],
    style: { head: [], border: [] },
  });
  for (const { name, unit, value, min, max, roof, ratio, bar, pass } of figures) {
    rows.push([
      name,
      `${shown(value)} ${unit}`,
      shown(min),
      shown(max),
      roof === null ? "-" : shown(roof),
      ratio === null ? "-" : `${ratio.toFixed(2)} x`,
      bar,
      bar === "-" ? "" : pass ? pc.green("ok") : pc.red("missed"),
    ]);
  }
  return rows.toString();
}

const shown = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString("en-US") : value.toFixed(value >= 10 ? 1 : 2);
