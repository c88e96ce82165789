import { Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { Vpc } from "aws-cdk-lib/aws-ec2";
import { expect, test } from "vitest";
import { findings } from "../../infra/checks/index.ts";
import { pathOf } from "../../infra/checks/template.ts";
import { Belfry } from "../../infra/constructs/belfry.ts";
import { loadApps, stages } from "../support/own-project.ts";
import { topology } from "../../src/stage/topology.ts";
import type { EditableTemplate } from "./faults/fault.ts";
import { code, image, newApp } from "./synthesize.ts";

const region = "eu-west-1";
const stack = new Stack(newApp(), "team", { env: { account: "123456789012", region } });
const vpc = new Vpc(stack, "Vpc", { availabilityZones: [`${region}a`, `${region}b`], natGateways: 1 });
const aurora = {
  kind: "aurora-serverless",
  minCapacity: 0.5,
  maxCapacity: 4,
  backupDays: 7,
  onDelete: "keep",
} as const;
for (const stage of [stages.prod, stages.small]) {
  new Belfry(stack, `Belfry-${stage.name}`, {
    stage: stage.name,
    release: { topology: topology(await loadApps(stage), stage), code, image },
    network: { kind: "existing", vpc: vpc as never },
    database: { ...aurora, deletionProtection: false },
    subscribers: ["ops@example.com"],
  });
}
const template = Template.fromStack(stack).toJSON() as EditableTemplate;
const said = (subject: EditableTemplate): readonly string[] =>
  findings(subject).flatMap(({ check, found }) =>
    found.map(({ resource, detail }) => `${check.id} ${pathOf(subject, resource)} ${detail}`),
  );

test("a team puts two stages with a cluster each into its own stack and network, and the checks tell them apart", () => {
  expect(Object.keys(template.Resources).length).toBeGreaterThan(180);
  expect(said(template)).toEqual([]);
});

test("a fault of one of them is found, and named by its construct", () => {
  const faulty = structuredClone(template);
  const [id] = Object.keys(faulty.Resources).filter((each) => /BelfrysmallDeadLettersDrainFunction/.test(each));
  const drain = faulty.Resources[id ?? ""];
  delete drain?.Properties?.["RecursiveLoop"];
  drain?.DependsOn?.splice(0);
  expect(said(faulty)).toEqual([
    expect.stringMatching(/^own-messages team\/Belfry-small\/DeadLetters/),
    expect.stringMatching(/^migration-first team\/Belfry-small\/DeadLetters/),
  ]);
});
