/**
 * `npm run smoke:aws`: a stage in your own account: looked at before, deployed by the CDK, exercised through its API with the
 * scenario of `npm run deploy:emulator`, and destroyed. Costs what the stage costs for an hour. `-- --endpoint URL` looks at
 * an emulator instead, and `--preflight` stops before anything is deployed.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { awsAt, awsIn } from "../emulator/aws-call.ts";
import { cdkAt } from "../emulator/cdk.ts";
import { cancels, health, once, succeeds } from "../emulator/scenario.ts";
import { callerAccount, preflight } from "./preflight.ts";

const stage = "dev";
const folder = join(fileURLToPath(new URL("../../", import.meta.url)), ".belfry", "smoke");

process.exitCode = await main();

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { endpoint: { type: "string" }, preflight: { type: "boolean" }, keep: { type: "boolean" } },
  });
  const region = process.env["AWS_REGION"] ?? process.env["AWS_DEFAULT_REGION"];
  if (!region) return refused("AWS_REGION is not set: name the region to deploy to, for example eu-west-1");
  const reach = (account: string) =>
    values.endpoint === undefined ? awsIn(region, account) : awsAt(values.endpoint, region, account);
  const account = await callerAccount(reach("")).catch((error: unknown) => String(error));
  if (!/^\d{12}$/.test(account)) {
    return refused(`no AWS account answers to these credentials (${account}): sign in, or set AWS_PROFILE`);
  }
  const aws = reach(account);
  const findings = await preflight(aws, stage);
  for (const { name, ok, detail } of findings) console.log(`${ok ? "ok     " : "FAILED "} ${name}: ${detail}`);
  if (findings.some(({ ok }) => !ok)) return refused(`account ${account}, ${region}, is not ready for stage ${stage}`);
  if (values.preflight === true) return 0;
  mkdirSync(folder, { recursive: true });
  const cdk = cdkAt(aws, { folder, stage, environment: {} });
  try {
    const outputs = await cdk.deploy();
    const apiUrl = Object.values(outputs).find((value) => value.includes("lambda-url")) ?? "";
    for (const step of [health, succeeds, once, cancels]) console.log(`ok      ${await step({ aws, apiUrl })}`);
    console.log("1 passed, 0 failed");
    return 0;
  } catch (error) {
    console.error(error);
    console.log("0 passed, 1 failed");
    return 1;
  } finally {
    if (values.keep !== true) await cdk.destroy();
  }
}

function refused(why: string): number {
  console.error(`smoke:aws deployed nothing: ${why}`);
  return 2;
}
