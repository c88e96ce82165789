/**
 * The CDK app of the release after this one, for `npm run deploy:emulator`: it has one migration more, which only expands, and
 * with `-c fails=yes` an alarm behind the migration that the emulator refuses.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { App, CfnResource } from "aws-cdk-lib";
import { CfnAlarm } from "aws-cdk-lib/aws-cloudwatch";
import { ContainerImage } from "aws-cdk-lib/aws-ecs";
import { releaseCode } from "../../infra/code.ts";
import { bundleFunctions } from "../../infra/release.ts";
import { addStage } from "../../infra/stack.ts";
import { deploymentOf } from "../../infra/stages.ts";
import { schemaVersionOfCode } from "../../src/postgres/schema-version.ts";
import { loadApps, project, stages } from "../support/own-project.ts";
import { topology } from "../../src/stage/topology.ts";

/** Of its migration. */
export const nextVersion = schemaVersionOfCode + 1;

if (import.meta.main) {
  const app = new App();
  const folder = join(app.outdir, ".bundle-next");
  await bundleFunctions(folder, project, stages.emulator.apps);
  const file = `${String(nextVersion).padStart(4, "0")}_expand_next_release.sql`;
  const migrations = join(folder, "migrate", "src", "postgres", "migrations");
  writeFileSync(join(migrations, file), "create table belfry.next_release (id int)");
  const deployment = deploymentOf(stages.emulator.name);
  const stack = addStage(app, stages.emulator.name, deployment, {
    release: {
      topology: topology(await loadApps(stages.emulator), stages.emulator),
      code: releaseCode(folder),
      image: ContainerImage.fromRegistry(deployment.image ?? "belfry-emulator"),
    },
  });
  if (app.node.tryGetContext("fails") === "yes") addRefused(stack);
  app.synth();
}

function addRefused(stack: ReturnType<typeof addStage>): void {
  const alarm = new CfnAlarm(stack, "Refused", {
    comparisonOperator: "GreaterThanThreshold",
    evaluationPeriods: 1,
    threshold: 1,
    metrics: [
      { id: "e", expression: "a / 2" },
      {
        id: "a",
        returnData: false,
        metricStat: { metric: { namespace: "A", metricName: "a" }, period: 60, stat: "Sum" },
      },
    ],
  });
  const migrations = stack.node.findAll().filter((each) => each instanceof CfnResource);
  for (const each of migrations) if (each.cfnResourceType === "Custom::BelfryMigration") alarm.addDependency(each);
}
