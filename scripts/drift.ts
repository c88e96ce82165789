/** `node scripts/drift.ts STACK`: what of a stack was changed by hand. Ends with 1 where something was. */
import { setTimeout as wait } from "node:timers/promises";
import { type Aws, awsAt, awsIn } from "../src/aws/aws-call.ts";

const Version = "2010-05-15";
const lookMs = 5_000;
const looksMax = 120;
/** RDS adds disk by itself, up to the limit in the template. */
const grows = new Set(["/AllocatedStorage"]);

/** @returns a line for each resource. @throws Error where CloudFormation could not look. */
export async function drift(aws: Aws, StackName: string): Promise<readonly string[]> {
  await detected(aws, StackName);
  const found: string[] = [];
  for (let NextToken = ""; ;) {
    const filter = {
      "StackResourceDriftStatusFilters.member.1": "MODIFIED",
      "StackResourceDriftStatusFilters.member.2": "DELETED",
    };
    const more = NextToken === "" ? {} : { NextToken };
    const asked = { Version, StackName, ...filter, ...more };
    const text = await aws.form("cloudformation", "DescribeStackResourceDrifts", asked);
    found.push(...changed(text));
    NextToken = /<NextToken>([^<]+)</.exec(text)?.[1] ?? "";
    if (NextToken === "") return found;
  }
}

async function detected(aws: Aws, StackName: string): Promise<void> {
  const begun = await aws.form("cloudformation", "DetectStackDrift", { Version, StackName });
  const StackDriftDetectionId = /<StackDriftDetectionId>([^<]+)</.exec(begun)?.[1] ?? "";
  for (let look = 0; look < looksMax; look += 1) {
    const asked = { Version, StackDriftDetectionId };
    const text = await aws.form("cloudformation", "DescribeStackDriftDetectionStatus", asked);
    if (text.includes(">DETECTION_COMPLETE<")) return;
    if (!text.includes(">DETECTION_IN_PROGRESS<")) throw new Error(`drift of ${StackName} was not detected: ${text}`);
    await wait(lookMs);
  }
  throw new Error(`drift of ${StackName} was not detected within ${(looksMax * lookMs) / 60_000} minutes`);
}

/** Each resource is a member, with its properties' differences as members of its own. */
function changed(text: string): readonly string[] {
  const blocks = text.split(
    /(?=<member>)(?!<member>\s*<(?:PropertyPath|ExpectedValue|ActualValue|DifferenceType|Key|Value)>)/,
  );
  return blocks.flatMap((block) => {
    const id = /<LogicalResourceId>([^<]+)</.exec(block)?.[1];
    if (id === undefined) return [];
    if (block.includes("<StackResourceDriftStatus>DELETED<")) return [`${id} was deleted`];
    const paths = [...block.matchAll(/<PropertyPath>([^<]+)</g)].map(([, path = ""]) => path);
    const others = paths.filter((path) => !grows.has(path));
    return others.length === 0 ? [] : [`${id} has another ${others.join(", ")}`];
  });
}

if (import.meta.main) {
  const [stack = ""] = process.argv.slice(2);
  const region = process.env["AWS_REGION"] ?? "";
  const endpoint = process.env["AWS_ENDPOINT_URL"];
  const found = await drift(endpoint === undefined ? awsIn(region, "") : awsAt(endpoint, region, ""), stack);
  for (const line of found) console.log(line);
  process.exitCode = found.length === 0 ? 0 : 1;
}
