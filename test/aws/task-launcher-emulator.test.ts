/**
 * The launcher against an emulator that others wrote: what our own ECS API answers is not only what we believe AWS answers.
 * Runs where `npm run deploy:emulator` has installed ministack before; without Docker its tasks run nothing.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CreateClusterCommand, type ECSClient, RegisterTaskDefinitionCommand } from "@aws-sdk/client-ecs";
import { afterAll, beforeAll, describe } from "vitest";
import { createEcsLauncher, ecsClient } from "../../src/aws/task-launcher.ts";
import { freePort } from "../../src/local/process/free-port.ts";
import { launcherContract } from "../contract/launcher.ts";
import { describeTask } from "./local-ecs.ts";
import { type Emulator, installedMinistack, startMinistack } from "../emulator/ministack.ts";

const program = installedMinistack(fileURLToPath(new URL("../../.belfry/emulator", import.meta.url)));
const startMsMax = 90_000;

if (program === null) console.warn("skipped: the launcher on ministack, which `npm run deploy:emulator` installs");

describe.skipIf(program === null)("on an emulator", () => {
  let folder = "";
  let emulator: Emulator | null = null;
  let client: ECSClient;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "belfry-ecs-"));
    emulator = await startMinistack({ program: program ?? "", folder, port: await freePort() });
    client = ecsClient({
      region: "us-east-1",
      sqsEndpoint: null,
      dynamodbEndpoint: null,
      ecsEndpoint: emulator.endpoint,
    });
    await client.send(new CreateClusterCommand({ clusterName: "belfry" }));
    await client.send(
      new RegisterTaskDefinitionCommand({
        family: "belfry-job",
        requiresCompatibilities: ["FARGATE"],
        networkMode: "awsvpc",
        cpu: "256",
        memory: "512",
        containerDefinitions: [{ name: "Job", image: "belfry" }],
      }),
    );
  }, startMsMax);
  afterAll(async () => {
    client.destroy();
    await emulator?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const open = async () => {
    const place = { cluster: "belfry", taskDefinition: "belfry-job", container: "Job", assignPublicIp: false };
    return {
      launcher: createEcsLauncher({ client, place: { ...place, subnets: ["subnet-1"], securityGroups: ["sg-1"] } }),
      describe: (task: string) => describeTask(client, task),
    };
  };
  launcherContract("ministack", open, { forgetsTokens: true, ignoresSizes: true });
});
