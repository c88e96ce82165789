import { expect, test } from "vitest";
import { apart, cellsApartMax, simulateCells } from "../sim/cells.ts";

test("sixteen cells, one lost, one slow and one with a hot key: as the closed form says, within 20 %", () => {
  const lines = simulateCells(16, 1);
  expect(Map.groupBy(lines, ({ what }) => what).size).toBe(4);
  expect(lines.filter(({ what }) => what === "usual").length).toBe(13);
  expect(apart(lines)).toBeLessThan(cellsApartMax);
}, 120_000);
