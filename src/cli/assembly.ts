/** What `cdk synth` left in `cdk.out`: the name of a stage's stack, before and after it is deployed, and its template. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { isApiOf } from "../stage/deployed-api.ts";

const resource = z.looseObject({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()).default({}),
  DeletionPolicy: z.string().optional(),
});
const templateShape = z.looseObject({
  Resources: z.record(z.string(), resource).default({}),
  Outputs: z.record(z.string(), z.looseObject({ Description: z.string().default("") })).default({}),
});
const properties = z.looseObject({
  templateFile: z.string().optional(),
  stackName: z.string().optional(),
  directoryName: z.string().optional(),
});
const manifestShape = z.looseObject({
  artifacts: z.record(z.string(), z.looseObject({ type: z.string(), properties: properties.optional() })).default({}),
});

export interface SynthesizedStack {
  readonly name: string;
  readonly resources: readonly z.infer<typeof resource>[];
}

/** @param folder of the CDK app. @throws Error where two stacks of it have this stage. */
export function synthesizedStack(folder: string, stage: string): SynthesizedStack | null {
  const found = stacksOf(join(folder, "cdk.out"), stage);
  const [first, second] = found;
  if (first !== undefined && second !== undefined) {
    throw new Error(
      `cdk.out has stacks ${first.name} and ${second.name} with stage "${stage}": name its address with --url`,
    );
  }
  return first ?? null;
}

/** Those of CDK stages are in folders of their own. */
function stacksOf(folder: string, stage: string): readonly SynthesizedStack[] {
  const file = join(folder, "manifest.json");
  if (!existsSync(file)) return [];
  const { artifacts } = manifestShape.parse(JSON.parse(readFileSync(file, "utf8")));
  return Object.entries(artifacts).flatMap(([id, { type, properties: about }]) => {
    if (type === "cdk:cloud-assembly") return stacksOf(join(folder, about?.directoryName ?? ""), stage);
    if (type !== "aws:cloudformation:stack" || about?.templateFile === undefined) return [];
    const template = templateShape.parse(JSON.parse(readFileSync(join(folder, about.templateFile), "utf8")));
    const hasStage = Object.values(template.Outputs).some(({ Description }) => isApiOf(stage, Description));
    return hasStage ? [{ name: about.stackName ?? id, resources: Object.values(template.Resources) }] : [];
  });
}
