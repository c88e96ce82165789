import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { DescribeTasksCommand, type ECSClient } from "@aws-sdk/client-ecs";
import { onTestFinished } from "vitest";
import { ecsClient } from "../../src/aws/task-launcher.ts";
import { type EcsOptions, type LocalEcs, startEcs, type TaskEvent } from "../../src/local/tasks/ecs.ts";
import type { TaskSeen } from "../contract/launcher.ts";

export const cluster = "belfry";

/** Waits to be stopped, and says so with its own exit code. */
const waiting =
  'process.on("SIGTERM", () => process.exit(0)); setInterval(() => {}, 1_000); process.stdout.write("up")';

export interface OpenEcs {
  readonly ecs: LocalEcs;
  readonly client: ECSClient;
  readonly events: TaskEvent[];
  readonly children: readonly ChildProcess[];
}

/** The local ECS, whose tasks run one line of code. */
export async function openEcs(options: Partial<EcsOptions> = {}, program = waiting): Promise<OpenEcs> {
  const events: TaskEvent[] = [];
  const children: ChildProcess[] = [];
  const ecs = await startEcs({
    start(_, env) {
      const child = spawn(process.execPath, ["-e", program], { env, stdio: ["ignore", "pipe", "ignore"] });
      children.push(child);
      return child;
    },
    async stop(child) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
    },
    onEvent: (event) => events.push(event),
    ...options,
  });
  const client = ecsClient({ region: "us-east-1", sqsEndpoint: null, dynamodbEndpoint: null, ecsEndpoint: ecs.url });
  onTestFinished(async () => {
    client.destroy();
    for (const child of children) child.kill("SIGKILL");
    await ecs.stop();
  });
  return { ecs, client, events, children };
}

export async function describeTask(client: ECSClient, task: string): Promise<TaskSeen> {
  const { tasks } = await client.send(new DescribeTasksCommand({ cluster, tasks: [task] }));
  const [seen] = tasks ?? [];
  return {
    lastStatus: seen?.lastStatus ?? "",
    startedBy: seen?.startedBy ?? "",
    command: seen?.overrides?.containerOverrides?.[0]?.command ?? [],
    cpu: seen?.cpu ?? "",
    memory: seen?.memory ?? "",
    stoppedReason: seen?.stoppedReason ?? "",
  };
}
