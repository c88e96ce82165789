import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { RunTaskCommand } from "@aws-sdk/client-ecs";
import { expect, onTestFinished, test, vi } from "vitest";
import { endTasks } from "../../src/aws/end-tasks.ts";
import type { EcsOptions } from "../../src/local/tasks/ecs.ts";
import { handler } from "../../functions/migrate.ts";
import { cluster, openEcs } from "./local-ecs.ts";

const lookMs = 20;

/** ECS with tasks that run. */
async function open(tasks: number, options: Partial<EcsOptions> = {}) {
  const opened = await openEcs(options);
  for (let index = 0; index < tasks; index += 1) {
    await opened.client.send(new RunTaskCommand({ cluster, taskDefinition: "belfry-pass" }));
  }
  await Promise.all(opened.children.map((child) => once(child.stdout ?? child, "data")));
  return opened;
}

test("every task of the cluster is stopped, and none is left when that is answered", async () => {
  const { ecs, client } = await open(3);
  expect(ecs.running()).toHaveLength(3);
  expect(await endTasks(client, cluster, { lookMs, signal: AbortSignal.timeout(20_000) })).toBe(3);
  expect(ecs.running()).toEqual([]);
  expect(await endTasks(client, cluster, { lookMs, signal: AbortSignal.timeout(20_000) })).toBe(0);
});

test("a task that is asked to stop and goes on is waited for, until the time is up", async () => {
  const asked: ChildProcess[] = [];
  const { ecs, client } = await open(1, { stop: async (child) => void asked.push(child) });
  await expect(endTasks(client, cluster, { lookMs, signal: AbortSignal.timeout(2_000) })).rejects.toThrow(/abort/i);
  expect(asked).toHaveLength(1);
  expect(ecs.running()).toHaveLength(1);
});

test("a stack that goes ends the tasks of its own cluster, and is not kept when ECS does not answer", async () => {
  const { ecs } = await open(2);
  vi.stubEnv("BELFRY_LOG_LEVEL", "silent");
  vi.stubEnv("BELFRY_STAGE", "emulator");
  vi.stubEnv("DATABASE_URL", "postgresql://127.0.0.1:1/gone");
  vi.stubEnv("AWS_ENDPOINT_URL", ecs.url);
  onTestFinished(() => void vi.unstubAllEnvs());
  const gone = { RequestType: "Delete", PhysicalResourceId: "belfry-migration" } as const;
  await handler(gone);
  expect(ecs.running()).toHaveLength(2);
  vi.stubEnv("BELFRY_CLUSTER", cluster);
  expect(await handler(gone)).toEqual({ PhysicalResourceId: "belfry-migration" });
  expect(ecs.running()).toEqual([]);
  vi.stubEnv("AWS_ENDPOINT_URL", "http://127.0.0.1:1");
  expect(await handler(gone)).toEqual({ PhysicalResourceId: "belfry-migration" });
});
