import Table from "cli-table3";
import pc from "picocolors";
import { contenderNames } from "./contender.ts";
import type { Line, Verdict } from "./judge.ts";
import { promises } from "./promises.ts";

/** For people: the figures, what stands behind them, and the bars. */
export function peersTable(lines: readonly Line[], verdicts: readonly Verdict[]): string {
  const style = { head: [], border: [] };
  const figures = new Table({
    head: ["", "", ...contenderNames],
    colAligns: ["left", "left", ...contenderNames.map(() => "right" as const)],
    style,
  });
  for (const { name, unit, values } of lines) {
    figures.push([name, unit, ...contenderNames.map((each) => shown(values[each]))]);
  }
  const behind = new Table({ head: ["", "belfry", "graphile-worker", "pg-boss"], style });
  for (const each of promises) behind.push([each.about, each.belfry, each.graphileWorker, each.pgBoss]);
  const bars = new Table({ head: ["", "belfry", "bar", ""], style });
  for (const { name, ratio, bar, pass } of verdicts) {
    bars.push([name, `${ratio.toFixed(2)} x`, bar, pass ? pc.green("ok") : pc.red("missed")]);
  }
  return [figures, behind, bars].join("\n");
}

function shown(value: number | null): string {
  if (value === null) return "-";
  return Math.abs(value) >= 100
    ? Math.round(value).toLocaleString("en-US")
    : value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}
