import { loadApps, stages } from "../support/own-project.ts";
import type { Stage } from "../../src/stage/stages.ts";
import { expect, test } from "vitest";
import { defineApp } from "../../src/define/define-app.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { defineSchedule } from "../../src/define/define-schedule.ts";
import type { AppDefinition } from "../../src/define/definition.ts";
import { resourcesAtMost } from "../../src/stage/deployment-limits.ts";
import { checkTopology, topology } from "../../src/stage/topology.ts";
import { resources, templateOf, unasked } from "./synthesize.ts";

/** So many kinds, each with a schedule of its own. */
const kinds = (count: number, launch: "tick" | "rule" = "tick"): AppDefinition =>
  defineApp({
    name: "many",
    schedules: Array.from({ length: count }, (_, n) => {
      const run = defineJob({ id: `kind-${n}`, run: () => {} });
      return defineSchedule({ id: `kind-${n}`, every: "1h", launch, run });
    }),
  });
const lanes = (count: number): AppDefinition =>
  defineApp({ name: "wide", lanes: Object.fromEntries(Array.from({ length: count }, (_, n) => [`lane-${n}`, {}])) });
/** Its database has connections for every lane. */
const big: Stage = { ...stages.prod, database: { maxConnections: 5_000, poolPerWorker: 2 } };
const sizeOf = (apps: readonly AppDefinition[], stage: Stage = stages.prod) => {
  const all = unasked(topology(apps, stage));
  const template = templateOf(all);
  return {
    all,
    resources: Object.keys(template.toJSON()["Resources"] as object).length,
    alarms: resources(template, "AWS::CloudWatch::Alarm").length,
  };
};

test("1,000 scheduled kinds make as many resources and alarms as one, within CloudFormation's 500", () => {
  const one = sizeOf([kinds(1)]);
  const thousand = sizeOf([kinds(1_000)]);
  console.info(`1,000 scheduled kinds: ${thousand.resources} resources, ${thousand.alarms} alarms`);
  expect([thousand.resources, thousand.alarms]).toEqual([one.resources, one.alarms]);
  expect(thousand.resources).toBeLessThan(500);
  expect(checkTopology(thousand.all)).toEqual([]);
});

test("what check counts is never less than what the template has", async () => {
  const deployed = Object.values<Stage>(stages).filter((stage) => stage.deployed);
  const long = defineApp({ name: "long", jobs: [defineJob({ id: "long", runOn: "fargate", run: () => {} })] });
  for (const stage of deployed) {
    const found = sizeOf([...(await loadApps(stage)), long], stage);
    console.info(`${stage.name}, with a job on Fargate: ${found.resources} resources, ${found.alarms} alarms`);
    expect(resourcesAtMost(found.all)).toBeGreaterThanOrEqual(found.resources);
  }
  for (const app of [lanes(4), kinds(40, "rule")]) {
    const found = sizeOf([app], big);
    expect(resourcesAtMost(found.all)).toBeGreaterThanOrEqual(found.resources);
  }
});

test("more rules than a bus has, and more resources than a stack has, are refused with what to do", () => {
  const problems = (apps: readonly AppDefinition[]) => checkTopology(topology(apps, big)).map((each) => each.rule);
  expect(problems([kinds(290, "rule")])).toEqual([]);
  expect(problems([kinds(301, "rule")])).toEqual([
    expect.stringContaining("must be at most 300, EventBridge's rules of one bus"),
    expect.stringContaining("must make at most 450 of CloudFormation's 500"),
  ]);
  expect(problems([lanes(15)])).toEqual([expect.stringContaining("must make at most 450 of CloudFormation's 500")]);
});
