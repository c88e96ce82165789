import { expect, test } from "vitest";
import { cells } from "../../bench/cells/cells.ts";
import { cellsPass, cellsTable } from "../../bench/cells/report.ts";
import { cellsPerSecond } from "../../bench/cost/model.ts";

test("one cell is bound by its thread of Node or by the cores, and two on a machine share these", () => {
  const cost = { postgresUs: 300, nodeUs: 100 };
  expect(cellsPerSecond(cost, { cells: 1, cores: 1 })).toBe(2_500);
  expect(cellsPerSecond(cost, { cells: 1, cores: 8 })).toBe(10_000);
  expect(cellsPerSecond(cost, { cells: 2, cores: 8 })).toBe(20_000);
  expect(cellsPerSecond(cost, { cells: 2, cores: 2 })).toBe(5_000);
});

test("two real cells work, alone and together, and each line stands beside the model", async () => {
  const run = await cells(0.06);
  expect(run.cost.postgresUs).toBeGreaterThan(0);
  expect(run.cost.nodeUs).toBeGreaterThan(0);
  expect(run.lines.map(({ cells: count, cores }) => [count, cores])).toEqual([
    [1, 1],
    [1, 2],
    [2, 2],
    [2, 2],
  ]);
  for (const { perSecond, modelPerSecond } of run.lines) {
    expect(perSecond).toBeGreaterThan(0);
    expect(modelPerSecond).toBeGreaterThan(0);
  }
  expect(cellsTable(run)).toContain("two cells, a core each");
  const [line] = run.lines;
  const apart = (apartPercent: number) =>
    cellsPass({ ...run, lines: line === undefined ? [] : [{ ...line, apartPercent }] });
  expect([apart(19), apart(-19), apart(21), apart(-21)]).toEqual([true, true, false, false]);
}, 120_000);
