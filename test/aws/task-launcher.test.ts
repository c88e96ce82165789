import { describe, expect, it } from "vitest";
import { createEcsLauncher, ecsClient, ownTask, type TaskPlace } from "../../src/aws/task-launcher.ts";
import type { EcsOptions, TaskEvent } from "../../src/local/tasks/ecs.ts";
import { launchOf, launcherContract } from "../contract/launcher.ts";
import { until } from "../local/until.ts";
import { serve } from "../support/replies.ts";
import { cluster, describeTask, openEcs } from "./local-ecs.ts";

const place: TaskPlace = {
  cluster,
  taskDefinition: "belfry-job",
  container: "Job",
  subnets: ["subnet-1"],
  securityGroups: ["sg-1"],
  assignPublicIp: true,
};

async function open(options: Partial<EcsOptions> = {}, program?: string) {
  const opened = await openEcs(options, program);
  return { ...opened, launcher: createEcsLauncher({ client: opened.client, place }) };
}

launcherContract("the local ECS API", async () => {
  const { launcher, client } = await open();
  return { launcher, describe: (task) => describeTask(client, task) };
});

it("a task is given what the lane of its worker has", async () => {
  const { client, ecs } = await open();
  const asked: unknown[] = [];
  client.middlewareStack.add(
    (next, context) => (args) => {
      if (context.commandName === "RunTaskCommand") asked.push((args.input as { overrides: unknown }).overrides);
      return next(args);
    },
    { step: "initialize" },
  );
  const environment = { BELFRY_LANE: "mail", MAIL_FROM: "a@example.com" };
  await createEcsLauncher({ client, place: { ...place, environment, taskRole: "arn:aws:iam::1:role/mail" } }).launch(
    launchOf(),
  );
  expect(asked).toMatchObject([
    {
      taskRoleArn: "arn:aws:iam::1:role/mail",
      containerOverrides: [
        {
          environment: [
            { name: "BELFRY_LANE", value: "mail" },
            { name: "MAIL_FROM", value: "a@example.com" },
          ],
        },
      ],
    },
  ]);
  expect(ecs.running()).toHaveLength(1);
});

describe("the local ECS API", () => {
  const lastOf = (events: readonly TaskEvent[]) =>
    until("the task to stop", () => events.find(({ detail }) => detail.lastStatus === "STOPPED") ?? null);

  it("reports every change of a task, each with a larger version", async () => {
    const { launcher, events } = await open({}, "process.exit(3)");
    await launcher.launch(launchOf());
    const last = await lastOf(events);
    expect(last).toMatchObject({ source: "aws.ecs", "detail-type": "ECS Task State Change" });
    expect(last.detail).toMatchObject({ stopCode: "EssentialContainerExited", containers: [{ exitCode: 3 }] });
    expect(events.map(({ detail }) => detail.lastStatus)).toEqual(["PENDING", "RUNNING", "STOPPED"]);
    const versions = events.map(({ detail }) => detail.version);
    expect(versions).toEqual([...new Set(versions)].toSorted((a, b) => a - b));
  });

  it("counts a kill as 128 and the signal, and names who stopped a task", async () => {
    const { ecs, launcher, events } = await open();
    await launcher.launch(launchOf());
    process.kill(ecs.running()[0]?.pid ?? -1, "SIGKILL");
    const { detail } = await lastOf(events);
    expect(detail).toMatchObject({ stopCode: "EssentialContainerExited", containers: [{ exitCode: 137 }] });
    events.length = 0;
    await launcher.launch(launchOf());
    const [running] = ecs.running();
    await until("the task to run", () => events.find((event) => event.detail.lastStatus === "RUNNING") ?? null);
    ecs.interrupt(running?.task ?? "", "SpotInterruption", "Your Spot Task was interrupted.");
    expect((await lastOf(events)).detail).toMatchObject({ stopCode: "SpotInterruption" });
  });

  it("lists no container for a task that never started", async () => {
    const { launcher, events } = await open({
      fate: () => ({ is: "never-starts", reason: "CannotPullContainerError" }),
    });
    expect(await launcher.launch(launchOf())).toMatchObject({ is: "accepted" });
    expect((await lastOf(events)).detail).toMatchObject({ stopCode: "TaskFailedToStart", containers: [] });
  });

  it("says to a task which task it is", async () => {
    const { ecs, launcher } = await open();
    const launched = await launcher.launch(launchOf());
    const task = launched.is === "accepted" ? launched.task : "";
    const own = { ECS_CONTAINER_METADATA_URI_V4: `${ecs.url}/v4/${task}` };
    expect(await ownTask(own)).toMatchObject({ id: task, cluster: "belfry", family: expect.any(String) });
    expect(await ownTask({})).toBeNull();
  });
});

describe("a launch that ECS does not take", () => {
  const error = (type: string, status: number, message: string) => ({ is: "error", type, status, message }) as const;

  it.each([
    ["no capacity", { is: "refused", reason: "Capacity is unavailable at this time." }],
    ["no memory left on the cluster", { is: "refused", reason: "RESOURCE:MEMORY" }],
    [
      "the account's quota",
      error("ClientException", 400, "You've reached the limit on the number of vCPUs you can run"),
    ],
    ["too many calls", error("ThrottlingException", 400, "Rate exceeded")],
    ["an error of the service", error("ServerException", 500, "oops")],
  ] as const)("waits for room: %s", async (_, fate) => {
    const { launcher } = await open({ fate: () => fate });
    expect(await launcher.launch(launchOf())).toMatchObject({ is: "no-room" });
  });

  it.each([
    ["a size above the account's", { is: "refused", reason: "The requested CPU configuration is above your limit" }],
    ["an unknown task definition", error("ClientException", 400, "Unable to find task definition")],
    ["no permission", error("AccessDeniedException", 400, "not authorized to perform: iam:PassRole")],
  ] as const)("is an error that names the cause: %s", async (_, fate) => {
    const { launcher } = await open({ fate: () => fate });
    const cause = fate.is === "refused" ? fate.reason : fate.message;
    await expect(launcher.launch(launchOf())).rejects.toThrow(cause);
  });

  it("starts one task when the answer is lost and the SDK asks again", async () => {
    let calls = 0;
    const { ecs, launcher } = await open({ fate: () => (++calls === 1 ? { is: "reply-lost" } : { is: "runs" }) });
    expect(await launcher.launch(launchOf())).toMatchObject({ is: "accepted" });
    expect(ecs.running()).toHaveLength(1);
    expect(calls).toBe(1);
  });

  it("is an error when the answer has neither a task nor a failure", async () => {
    const { url } = await serve({ status: 200, body: {} });
    const client = ecsClient({ region: "us-east-1", sqsEndpoint: null, dynamodbEndpoint: null, ecsEndpoint: url });
    await expect(createEcsLauncher({ client, place }).launch(launchOf())).rejects.toThrow(
      "neither a task nor a reason",
    );
  });
});
