import { spawn } from "node:child_process";
import { once } from "node:events";
import { listAt, at } from "../../infra/checks/template.ts";
import type { Aws } from "../../src/aws/aws-call.ts";
import { describeTask } from "./audit.ts";

export interface Pass {
  readonly code: number | null;
  readonly said: string;
}

// Long enough beside the lease for the second to see the first one's heartbeat.
const passMs = 10_000;
const leaseMs = 6_000;
const taskMsMax = 90_000;

/**
 * What a wake does on Fargate: the deployed task definition's command and environment, with the bundle that the image
 * would have. The emulator starts no containers.
 */
export async function wake(aws: Aws, taskDefinition: string, bundle: string): Promise<Pass> {
  const [container] = listAt(await describeTask(aws, taskDefinition), "containerDefinitions");
  const environment = Object.fromEntries(
    listAt(container, "environment").map((each) => [String(at(each, "name")), String(at(each, "value"))]),
  );
  const child = spawn(process.execPath, [bundle, ...listAt(container, "command").map(String)], {
    stdio: ["ignore", "pipe", "pipe"],
    timeout: taskMsMax,
    env: {
      ...environment,
      // What ECS itself puts there: credentials; and what the emulator is: an address, and less time.
      AWS_ACCESS_KEY_ID: "test",
      AWS_SECRET_ACCESS_KEY: "test",
      ...(aws.endpoint === null ? {} : { AWS_ENDPOINT_URL: aws.endpoint }),
      BELFRY_PASS_MS: String(passMs),
      BELFRY_LOCK_LEASE_MS: String(leaseMs),
    },
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data: Buffer) => (said += data.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, said };
}
