import Table from "cli-table3";
import pc from "picocolors";
import type { Figure } from "./measure.ts";

/** A table for people. A head that begins with `>` has its column at the right. */
export function rowsTable(heads: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const out = new Table({
    head: heads.map((head) => head.replace(/^>/, "")),
    colAligns: heads.map((head) => (head.startsWith(">") ? "right" : "left")),
    style: { head: [], border: [] },
  });
  for (const row of rows) out.push([...row]);
  return out.toString();
}

export const okOr = (pass: boolean): string => (pass ? pc.green("ok") : pc.red("missed"));

export const table = (figures: readonly Figure[]): string =>
  rowsTable(
    ["bench", ">median", ">min", ">max", ">roof", ">ratio", ">bar", ""],
    figures.map(({ name, unit, value, min, max, roof, ratio, bar, pass }) => [
      name,
      `${shown(value)} ${unit}`,
      shown(min),
      shown(max),
      roof === null ? "-" : shown(roof),
      ratio === null ? "-" : `${ratio.toFixed(2)} x`,
      bar,
      bar === "-" ? "" : okOr(pass),
    ]),
  );

export const shown = (value: number, digits = 2): string =>
  Math.abs(value) >= 100
    ? Math.round(value).toLocaleString("en-US")
    : value.toFixed(Math.abs(value) >= 10 ? 1 : digits);
