import { resolve } from "node:path";
import type { ChosenDatabase } from "../../infra/constructs/database-defaults.ts";
import { engineVersions } from "../../infra/engines.ts";
import type { Deployment } from "../../infra/stages.ts";
import { onDemandMinutes } from "../stage/stages.ts";
import type { Project } from "../stage/project.ts";
import { synthesizedStack, type SynthesizedStack } from "./assembly.ts";

/** What the deployment of a stage asks of an account. */
export interface Plan {
  readonly stack: string;
  /** How many it makes. */
  readonly vpcs: number;
  readonly addresses: number;
  /** Names; null: the first two of the region, which CloudFormation takes. */
  readonly zones: readonly string[] | null;
  /** Whether something in it reaches the internet by an address of its own, beside NAT gateways. */
  readonly hasPublicAddresses: boolean;
  /** That it makes; null: an existing one. */
  readonly database: { readonly engine: string; readonly version: string; readonly instanceClass: string } | null;
  /** Whether an image of its tasks is built when it is deployed. */
  readonly buildsImage: boolean;
  /** Of each rule that starts a scheduler task. */
  readonly wakeMinutes: readonly number[];
  readonly mustLast: boolean;
}

/** From `infra/stages.ts` of this repository, or from what the project's own CDK app wrote; null before it has. */
export async function planOf(project: Project, stage: string): Promise<Plan | null> {
  if (project.root === resolve(import.meta.dirname, "../..")) {
    const { deploymentOf } = await import("../../infra/stages.ts");
    const { chosenDatabase } = await import("../../infra/constructs/database-defaults.ts");
    const deployment = deploymentOf(stage);
    return planned(stage, deployment, chosenDatabase(deployment.database));
  }
  const synthesized = synthesizedStack(project.root, stage);
  return synthesized === null ? null : plannedBy(synthesized);
}

function planned(stage: string, deployment: Deployment, database: ChosenDatabase): Plan {
  const { network, scheduler = "each-minute", spotPasses } = deployment;
  const isOurs = network.kind === "small" || network.kind === "default";
  const engine = database.kind === "instance" ? "postgres" : "aurora-postgresql";
  const instanceClass = "instanceClass" in database ? database.instanceClass : "db.serverless";
  return {
    stack: `belfry-${stage}`,
    vpcs: isOurs ? 1 : 0,
    addresses: isOurs && network.ipv4 === "gateway" ? network.gateways : 0,
    zones: (isOurs ? network.zones : undefined) ?? null,
    hasPublicAddresses: network.kind === "small" || (isOurs && network.ipv4 === "instance"),
    database: database.kind === "existing" ? null : { engine, version: engineVersions[engine], instanceClass },
    buildsImage: deployment.image === undefined,
    wakeMinutes: [
      ...(scheduler === "service" ? [] : [1]),
      ...(spotPasses === true ? [onDemandMinutes[scheduler]] : []),
    ],
    mustLast: database.kind !== "existing" && database.onDelete === "keep",
  };
}

function plannedBy({ name, resources }: SynthesizedStack): Plan {
  const ofType = (type: string) => resources.filter((each) => each.Type === type).map((each) => each.Properties);
  const zones = ofType("AWS::EC2::Subnet").map((subnet) => subnet["AvailabilityZone"]);
  const named = [...new Set(zones.filter((zone) => typeof zone === "string"))];
  const rules = ofType("AWS::Events::Rule");
  const [server] = ofType("AWS::RDS::DBInstance");
  const [cluster] = ofType("AWS::RDS::DBCluster");
  return {
    stack: name,
    vpcs: ofType("AWS::EC2::VPC").length,
    addresses: ofType("AWS::EC2::EIP").length,
    zones: named.length === 0 ? null : named,
    hasPublicAddresses:
      ofType("AWS::EC2::Instance").length > 0 ||
      JSON.stringify([rules, ofType("AWS::ECS::Service")]).includes('"AssignPublicIp":"ENABLED"'),
    database:
      server === undefined
        ? null
        : {
            engine: String(server["Engine"]),
            version: String((cluster ?? server)["EngineVersion"]),
            instanceClass: String(server["DBInstanceClass"]),
          },
    // An image of the app's own has the name of the CDK's registry.
    buildsImage: JSON.stringify(ofType("AWS::ECS::TaskDefinition")).includes("container-assets"),
    wakeMinutes: rules
      .filter((rule) => JSON.stringify(rule["Targets"]).includes("EcsParameters"))
      .flatMap((rule) => /^rate\((\d+) minutes?\)$/.exec(String(rule["ScheduleExpression"]))?.[1] ?? [])
      .map(Number),
    mustLast: server !== undefined,
  };
}
