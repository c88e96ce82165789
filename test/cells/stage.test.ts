import { expect, test } from "vitest";
import { loadApps } from "../../src/compose/apps.ts";
import { readConfig } from "../../src/stage/config.ts";
import { asCell } from "../../src/stage/stages.ts";
import { topology } from "../../src/stage/topology.ts";
import { resources, templateOf } from "../infra/synthesize.ts";
import { project, stages } from "../support/own-project.ts";

const schedulesIn = async (cell: number | null, runsSchedules?: boolean): Promise<number> => {
  const stage = asCell(stages.small, cell);
  const own =
    runsSchedules === undefined || stage.cell === undefined
      ? stage
      : { ...stage, cell: { ...stage.cell, runsSchedules } };
  return (await loadApps(project, own)).flatMap(({ schedules }) => schedules).length;
};

test("the schedules of the code run in cell 0, or where the stage says", async () => {
  const all = await schedulesIn(null);
  expect(all).toBeGreaterThan(0);
  expect(await Promise.all([schedulesIn(0), schedulesIn(1), schedulesIn(1, true), schedulesIn(0, false)])).toEqual([
    all,
    0,
    all,
    0,
  ]);
});

test("BELFRY_CELL makes a process one of a cell, and a wrong number is refused by name", () => {
  const given = { DATABASE_URL: "postgresql://127.0.0.1/x", AWS_REGION: "us-east-1", BELFRY_STAGE: "small" };
  expect(readConfig(given, project).stage.cell).toBeUndefined();
  expect(readConfig({ ...given, BELFRY_CELL: "5" }, project).stage.cell).toEqual({ number: 5 });
  expect(() => readConfig({ ...given, BELFRY_CELL: "64" }, project)).toThrow("BELFRY_CELL");
});

test("a deployed cell gives its number to what migrates and to every other process", async () => {
  const stage = asCell(stages.small, 7);
  const template = templateOf(topology(await loadApps(project, stage), stage));
  const numberIn = (environment: unknown): unknown =>
    (environment as { BELFRY_CELL?: unknown } | undefined)?.BELFRY_CELL;
  const functions = resources(template, "AWS::Lambda::Function").filter(({ Properties }) => {
    const { Variables } = (Properties["Environment"] ?? {}) as { Variables?: Record<string, unknown> };
    return Variables?.["BELFRY_STAGE"] !== undefined;
  });
  expect(functions.map(({ id }) => id).join(" ")).toContain("Migrat");
  for (const { id, Properties } of functions)
    expect([id, numberIn((Properties["Environment"] as { Variables: object }).Variables)]).toEqual([id, "7"]);
  const tasks = JSON.stringify(resources(template, "AWS::ECS::TaskDefinition"));
  expect(tasks).toContain('{"Name":"BELFRY_CELL","Value":"7"}');
  const alone = templateOf(topology(await loadApps(project, stages.small), stages.small));
  expect(JSON.stringify(alone.toJSON())).not.toContain("BELFRY_CELL");
});
