import type { Aws } from "../../src/aws/aws-call.ts";
import { stackOf } from "./cdk.ts";

/** What was made of the template. */
export async function resourcesOf(aws: Aws, StackName: string) {
  const xml = await aws.form("cloudformation", "DescribeStackResources", { Version: "2010-05-15", StackName });
  const fields = ["LogicalResourceId", "PhysicalResourceId", "ResourceType"];
  const found = [...xml.matchAll(/<member>[\s\S]*?<\/member>/g)].flatMap(([member]) => {
    const [logicalId, physicalId, type] = fields.map((field) => new RegExp(`<${field}>([^<]+)<`).exec(member)?.[1]);
    return logicalId === undefined || physicalId === undefined ? [] : [{ logicalId, physicalId, type }];
  });
  if (found.length === 0) throw new Error(`the stack ${StackName} has no resources`);
  return found;
}

/** Physical ids by logical id. */
export async function physicalIds(aws: Aws, stage = "emulator"): Promise<ReadonlyMap<string, string>> {
  const resources = await resourcesOf(aws, stackOf(stage));
  return new Map(resources.map(({ logicalId, physicalId }) => [logicalId, physicalId]));
}

/** @returns its status and the values of its outputs. */
export async function stackNow(
  aws: Aws,
  StackName = stackOf("emulator"),
): Promise<{ readonly status: string; readonly Outputs: readonly string[] }> {
  const text = await aws.form("cloudformation", "DescribeStacks", { Version: "2010-05-15", StackName });
  return {
    status: /<StackStatus>([^<]+)</.exec(text)?.[1] ?? "unknown",
    Outputs: [...text.matchAll(/<OutputValue>([^<]*)</g)].map(([, value = ""]) => value),
  };
}
