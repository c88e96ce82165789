import type { Aws } from "../../src/aws/aws-call.ts";
import { stackOf } from "./cdk.ts";

/** What was made of the template: physical ids by logical id. */
export async function physicalIds(aws: Aws, stage = "emulator"): Promise<ReadonlyMap<string, string>> {
  const stackName = stackOf(stage);
  const ids = new Map<string, string>();
  const xml = await aws.form("cloudformation", "DescribeStackResources", {
    Version: "2010-05-15",
    StackName: stackName,
  });
  for (const [member] of xml.matchAll(/<member>[\s\S]*?<\/member>/g)) {
    const logical = /<LogicalResourceId>([^<]+)</.exec(member)?.[1];
    const physical = /<PhysicalResourceId>([^<]+)</.exec(member)?.[1];
    if (logical !== undefined && physical !== undefined) ids.set(logical, physical);
  }
  if (ids.size === 0) throw new Error(`the stack ${stackName} has no resources`);
  return ids;
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
