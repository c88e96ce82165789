import { expect, test } from "vitest";
import jobs from "../../jobs/index.ts";
import { stageNamed, stages } from "../support/own-project.ts";
import { checkApps } from "../../src/define/check.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { describe as line } from "../../src/define/problem.ts";
import { checkTopology, topology, type Topology } from "../../src/stage/topology.ts";

const job = (id: string, more: object = {}) => defineJob({ id, run: () => {}, ...more });
const laneOf = (all: Topology, name: string) => all.lanes.find((lane) => lane.name === name);

test("the examples are never part of prod", () => {
  expect(stages.prod.apps).not.toContain("examples");
});

test("an unknown stage is refused with the stages there are", () => {
  expect(() => stageNamed("toString")).toThrow(
    'stage "toString" is not defined: use one of dev, examples, demo, emulator, smoke, systems, small, prod',
  );
});

test("there is a default lane even without jobs", () => {
  expect(topology([], stages.dev).lanes.map((lane) => lane.name)).toEqual(["default"]);
});

test("a lane's function outlives its longest job on Lambda, and its queue hides messages six times as long", () => {
  const slow = defineApp({ name: "a", jobs: [job("quick"), job("slow", { timeout: "10m" })] });
  const lane = laneOf(topology([slow], stages.prod), "default");
  expect(lane).toMatchObject({ functionTimeoutSeconds: 630, visibilityTimeoutSeconds: 3_780 });
});

test("a job on Fargate does not lengthen the function that only launches it", () => {
  const app = defineApp({ name: "a", jobs: [job("days", { timeout: "2d", runOn: "fargate" })] });
  expect(laneOf(topology([app], stages.prod), "default")?.functionTimeoutSeconds).toBe(60);
});

test("the longest timeout check accepts on Lambda is exactly Lambda's own limit with the margin", () => {
  const app = defineApp({ name: "a", jobs: [job("long", { timeout: "870s" })] });
  expect(checkApps([app], "prod")).toEqual([]);
  expect(laneOf(topology([app], stages.prod), "default")?.functionTimeoutSeconds).toBe(900);
});

test("a lane's size comes from its app, by stage, else from the stage", () => {
  const app = defineApp({ name: "a", lanes: { mail: { concurrency: { prod: 7 }, batchSize: 1 } } });
  expect(laneOf(topology([app], stages.prod), "mail")).toMatchObject({ concurrency: 7, batchSize: 1 });
  expect(laneOf(topology([app], stages.dev), "mail")).toMatchObject({
    concurrency: stages.dev.laneConcurrency,
    batchSize: 1,
  });
});

test("what the queues keep follows from what SQS does to a dead letter's age", () => {
  const lane = laneOf(topology(jobs, stages.dev), "default");
  expect(lane).toMatchObject({ maxReceiveCount: 5, retentionSeconds: 345_600, deadLetterRetentionSeconds: 1_209_600 });
});

test.each<[string, (good: Topology) => Topology, string]>([
  [
    "more connections than 60 % of the database's",
    (good) => ({ ...good, database: { ...good.database, maxConnections: 10 } }),
    "must be at most 6, 60 % of max_connections 10",
  ],
  [
    "a task that is killed before it can stop",
    (good) => ({ ...good, schedulerTask: { ...good.schedulerTask, memoryMb: 4_096 } }),
    "schedulerTask.memoryMb 4096 is not sold with a cpu of 256",
  ],
  [
    "a dispatch window shorter than the time between wakes",
    (good) => ({ ...good, dispatchWindowMs: 30_000 }),
    "dispatchWindowMs 30000 must be at least 60000",
  ],
])("%s is a problem", (_, spoil, expected) => {
  const found = checkTopology(spoil(topology(jobs, stages.dev))).map(line);
  expect(found).toHaveLength(1);
  expect(found[0]).toContain(expected);
});
