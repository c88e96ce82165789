import pc from "picocolors";
import { rowsTable } from "../table.ts";
import type { Line } from "./compare.ts";

/** The table for people: what grows first, then the rest by name. */
export const growthTable = (lines: readonly Line[]): string =>
  rowsTable(
    ["", "name", ">pages at N", ">at 10 N", ">ratio", ">rows at N", ">at 10 N", ">ms at N", ">at 10 N", "grown", ""],
    lines
      .toSorted((a, b) => Number(b.verdict === "worse") - Number(a.verdict === "worse"))
      .map(({ kind, name, few, many, ratio, grown, verdict }) => [
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
      ]),
  );
