import type { Command } from "commander";
import { costTable } from "../../insight/cost-table.ts";
import { type Output, shownCsv, type World } from "../output.ts";
import { readCommand } from "../read-command.ts";

export const costsCommand = (world: World, out: Output): Command =>
  readCommand(world, out, {
    name: "costs",
    example: "costs --by key --from 2026-11-01 --to 2026-12-01 --csv",
    operation: "getCosts",
    options: { "--csv": "for a spreadsheet, instead of the table" },
    text(answer, options) {
      const { head, rows } = costTable(answer);
      if (options["csv"] !== undefined) return shownCsv([head, rows], world.streams);
      const all = `${answer.from} up to ${answer.to}, as stage ${answer.stage} would cost: ${answer.total.usd.total.toFixed(2)} USD`;
      if (rows.length === 0) return `${all}; nothing has run`;
      return `${out.table(
        head.map((name) => name.toUpperCase().replace("_", " ")),
        rows,
      )}\n${all}`;
    },
    notes: ({ assumes, leftOut }) => [`an estimate: ${assumes.join("; ")}`, `left out: ${leftOut.join("; ")}`],
  });
