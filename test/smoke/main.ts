/**
 * `npm run smoke:aws`: the stage `smoke` in your own account: looked at before, deployed by the CDK, exercised through its API
 * with the scenario of `npm run deploy:emulator`, and destroyed. Costs what the stage costs for an hour. `-- --preflight` stops
 * before anything is deployed, `--image URI` takes an image that others built, `--keep` destroys nothing, and `--endpoint URL`
 * looks at an emulator instead.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Aws, awsAt, awsIn } from "../emulator/aws-call.ts";
import { type Cdk, cdkAt, stackOf } from "../emulator/cdk.ts";
import { physicalIds } from "../emulator/deployed.ts";
import { cancels, type DeployedApi, fires, health, once, retries, succeeds } from "../emulator/scenario.ts";
import { callerAccount, preflight } from "./preflight.ts";

const stage = "smoke";
const folder = join(fileURLToPath(new URL("../../", import.meta.url)), ".belfry", "smoke");
const destroyByHand = `npx cdk destroy ${stackOf(stage)} -c stage=${stage}`;

process.exitCode = await main();

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      endpoint: { type: "string" },
      image: { type: "string" },
      preflight: { type: "boolean" },
      keep: { type: "boolean" },
    },
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
  const findings = await preflight(aws, stage, values.image);
  for (const { name, ok, detail } of findings) console.log(`${ok ? "ok     " : "FAILED "} ${name}: ${detail}`);
  if (findings.some(({ ok }) => !ok)) return refused(`account ${account}, ${region}, is not ready for stage ${stage}`);
  if (values.preflight === true) return 0;
  return deployed(aws, values);
}

async function deployed(aws: Aws, { image, keep }: { image?: string; keep?: boolean }): Promise<number> {
  mkdirSync(folder, { recursive: true });
  const cdk = cdkAt(aws, { folder, stage, environment: {}, onOutput: (text) => process.stdout.write(text) });
  console.log(
    `deploying to account ${aws.account}, ${aws.region}: about 20 minutes. Interrupted, it stays: ${destroyByHand}`,
  );
  const isWell = await exercise(cdk, aws, image);
  const isGone = keep === true || (await destroy(cdk, aws));
  console.log(isWell && isGone ? "1 passed, 0 failed" : "0 passed, 1 failed");
  return isWell && isGone ? 0 : 1;
}

async function exercise(cdk: Cdk, aws: Aws, image: string | undefined): Promise<boolean> {
  try {
    const outputs = await cdk.deploy(image === undefined ? undefined : { image });
    const apiUrl = Object.values(outputs).find((value) => value.includes("lambda-url")) ?? "";
    const api: DeployedApi = { aws, apiUrl };
    for (const step of [health, succeeds, retries, once, cancels, fires]) console.log(`ok      ${await step(api)}`);
    return true;
  } catch (error) {
    console.error(error);
    return false;
  }
}

/** Says what is left on purpose: queues, logs and the lock table outlive their stack, and a snapshot the database. */
async function destroy(cdk: Cdk, aws: Aws): Promise<boolean> {
  try {
    const kept = Object.entries(cdk.template().Resources).filter(
      ([, resource]) => (resource as { DeletionPolicy?: string }).DeletionPolicy === "Retain",
    );
    const ids = await physicalIds(aws, stage);
    await cdk.destroy();
    for (const [id, { Type }] of kept) console.log(`stays   ${Type} ${ids.get(id) ?? id}`);
    console.log("stays   the last snapshot of the database");
    return true;
  } catch (error) {
    if (/does not exist/.test(String(error))) return true;
    console.error(error);
    console.error(
      `not all of it is gone, and it is paid for; interfaces of functions take half an hour: ${destroyByHand}`,
    );
    return false;
  }
}

function refused(why: string): number {
  console.error(`smoke:aws deployed nothing: ${why}`);
  return 2;
}
