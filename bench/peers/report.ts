import { okOr, rowsTable, shown } from "../table.ts";
import { contenderNames } from "./contender.ts";
import type { Line, Verdict } from "./judge.ts";

/** For people: the figures and the bars. What stands behind them is in docs/performance.md. */
export function peersTable(lines: readonly Line[], verdicts: readonly Verdict[]): string {
  const valueOf = (value: number | null): string => (value === null ? "-" : shown(value));
  const figures = lines.map(({ name, unit, values }) => [
    name,
    unit,
    ...contenderNames.map((each) => valueOf(values[each])),
  ]);
  const bars = verdicts.map(({ name, ratio, bar, pass }) => [name, `${ratio.toFixed(2)} x`, bar, okOr(pass)]);
  return [
    rowsTable(["", "", ...contenderNames.map((name) => `>${name}`)], figures),
    rowsTable(["", "belfry", "bar", ""], bars),
  ].join("\n");
}
