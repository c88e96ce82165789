import Table from "cli-table3";
import pc from "picocolors";
import type { Line } from "./compare.ts";

/** The table for people: what grows first, then the rest by name. */
export function growthTable(lines: readonly Line[]): string {
  const rows = new Table({
    head: ["", "name", "pages at N", "at 10 N", "ratio", "rows at N", "at 10 N", "ms at N", "at 10 N", "grown", ""],
    colAligns: ["left", "left", "right", "right", "right", "right", "right", "right", "right", "left", "left"],
    style: { head: [], border: [] },
  });
  const isWorse = (line: Line) => line.verdict === "worse";
  for (const { kind, name, few, many, ratio, grown, verdict } of [
    ...lines.filter(isWorse),
    ...lines.filter((line) => !isWorse(line)),
  ])
    rows.push([
      kind,
      name,
      few.pages,
      many.pages,
      `${ratio.toFixed(2)} x`,
      few.rows,
      many.rows,
      few.milliseconds.toFixed(1),
      many.milliseconds.toFixed(1),
      verdict === "O(1)" ? "" : (grown ?? ""),
      verdict === "worse" ? pc.red(verdict) : pc.green(verdict),
    ]);
  return rows.toString();
}
