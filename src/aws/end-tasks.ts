import { setTimeout } from "node:timers/promises";
import { DescribeTasksCommand, type ECSClient, paginateListTasks, StopTaskCommand } from "@aws-sdk/client-ecs";

const reason = "the stack is deleted";

/**
 * Stops every task of a cluster and waits until the last one has ended: ECS deletes no cluster before.
 * @returns how many were stopped. @throws the signal's reason when that takes too long.
 */
export async function endTasks(
  client: ECSClient,
  cluster: string,
  { lookMs, signal }: { readonly lookMs: number; readonly signal: AbortSignal },
): Promise<number> {
  const asked = new Set<string>();
  for (;;) {
    const running = await tasksOf(client, cluster, "RUNNING");
    for (const task of running.filter((each) => !asked.has(each))) {
      await client.send(new StopTaskCommand({ cluster, task, reason }));
      asked.add(task);
    }
    // One that was asked to stop is listed as STOPPED at once, and goes on until it has.
    if (running.length === 0 && (await tasksOf(client, cluster, "STOPPED")).length === 0) return asked.size;
    await setTimeout(lookMs, undefined, { signal });
  }
}

async function tasksOf(client: ECSClient, cluster: string, desiredStatus: "RUNNING" | "STOPPED"): Promise<string[]> {
  const found: string[] = [];
  for await (const { taskArns = [] } of paginateListTasks({ client }, { cluster, desiredStatus })) {
    if (taskArns.length === 0) continue;
    const { tasks = [] } = await client.send(new DescribeTasksCommand({ cluster, tasks: taskArns }));
    for (const { taskArn, lastStatus } of tasks) if (taskArn && lastStatus !== "STOPPED") found.push(taskArn);
  }
  return found;
}
