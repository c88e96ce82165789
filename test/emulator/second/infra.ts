/** The CDK app of a second system, beside the first in one account and region. */
import { fileURLToPath } from "node:url";
import { App, Stack } from "aws-cdk-lib";
import { ContainerImage } from "aws-cdk-lib/aws-ecs";
import { Key } from "aws-cdk-lib/aws-kms";
import { Belfry } from "../../../infra/constructs/belfry.ts";
import { deploymentOf } from "../../../infra/stages.ts";

const app = new App();
addSystem(new Stack(app, "second-emulator"), app.node.tryGetContext("system"));

function addSystem(stack: Stack, system: unknown): Belfry {
  const { network, database, alarms } = deploymentOf("emulator");
  return new Belfry(stack, "Belfry", {
    stage: "emulator",
    project: fileURLToPath(new URL(".", import.meta.url)),
    ...(typeof system === "string" ? { system } : {}),
    network,
    database,
    alarms,
    image: ContainerImage.fromRegistry("belfry-emulator"),
    seals: { payroll: new Key(stack, "Payroll") },
  });
}
