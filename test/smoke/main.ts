/**
 * `npm run smoke:aws`: the stage `smoke` in your own account: looked at before, deployed by the CDK with the examples and their
 * outside targets, exercised through its API with the scenario of `npm run deploy:emulator`, judged as `npm run demo` is, by
 * tables and the targets' ledgers, and destroyed. Takes two hours and costs what the stage costs for them. `-- --preflight` stops
 * before anything is deployed, `--image URI` and `--fakes-image URI` take images that others built, `--keep` destroys nothing,
 * `--endpoint URL` looks at an emulator instead, and `--local` judges a system on this machine by the same task. `--list` says
 * what only an account can show.
 */
import { project } from "../support/own-project.ts";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { idOf } from "../emulator/audit.ts";
import { type Aws, awsAt, awsIn } from "../../src/aws/aws-call.ts";
import { type Cdk, cdkAt, stackOf } from "../emulator/cdk.ts";
import { physicalIds } from "../emulator/deployed.ts";
import { cancels, type DeployedApi, fires, health, once, retries, succeeds } from "../emulator/scenario.ts";
import { passOrFail, step } from "../support/steps.ts";
import { onlyAnAccount } from "./only-an-account.ts";
import { judgement } from "./judgement.ts";
import { judgeLocal, tell } from "./judge-local.ts";
import { callerAccount, type Images, preflight } from "../../src/cli/preflight.ts";

const stage = "smoke";
const folder = join(fileURLToPath(new URL("../../", import.meta.url)), ".belfry", "smoke");
const destroyByHand = `npx cdk destroy ${stackOf(stage)} -c stage=${stage}`;

process.exitCode = await main();

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      endpoint: { type: "string" },
      image: { type: "string" },
      "fakes-image": { type: "string" },
      local: { type: "boolean" },
      list: { type: "boolean" },
      preflight: { type: "boolean" },
      keep: { type: "boolean" },
    },
  });
  if (values.list === true) return tellWhatIsLeft();
  if (values.local === true) return passOrFail(() => judgeLocal(folder));
  const region = process.env["AWS_REGION"] ?? process.env["AWS_DEFAULT_REGION"];
  if (!region) return refused("AWS_REGION is not set: name the region to deploy to, for example eu-west-1");
  const reach = (account: string) =>
    values.endpoint === undefined ? awsIn(region, account) : awsAt(values.endpoint, region, account);
  const account = await callerAccount(reach("")).catch((error: unknown) => String(error));
  if (!/^\d{12}$/.test(account)) {
    return refused(`no AWS account answers to these credentials (${account}): sign in, or set AWS_PROFILE`);
  }
  const aws = reach(account);
  const images = { image: values.image, fakes: values["fakes-image"] };
  const findings = await preflight(aws, project, stage, images);
  for (const { name, ok, detail, fix } of findings) {
    console.log(`${ok ? "ok     " : "FAILED "} ${name}: ${detail}${fix === undefined ? "" : `: ${fix}`}`);
  }
  // What is destroyed at the end must be what this run made.
  if (!findings.some(({ name, detail }) => name === "stack" && detail.includes("is not there"))) {
    return refused(`the stack ${stackOf(stage)} is of another run, which may still go on; else ${destroyByHand}`);
  }
  if (findings.some(({ ok }) => !ok)) return refused(`account ${account}, ${region}, is not ready for stage ${stage}`);
  if (values.preflight === true) return 0;
  return deployed(aws, images, values.keep === true);
}

async function deployed(aws: Aws, images: Images, keep: boolean): Promise<number> {
  mkdirSync(folder, { recursive: true });
  const cdk = cdkAt(aws, { folder, stage, environment: {}, onOutput: (text) => process.stdout.write(text) });
  console.log(
    `deploying to account ${aws.account}, ${aws.region}: about 25 minutes. Interrupted, it stays: ${destroyByHand}`,
  );
  return passOrFail(async () => {
    const failures: unknown[] = [];
    await exercise(cdk, aws, images).catch((error: unknown) => failures.push(error));
    if (!keep) await destroy(cdk, aws).catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw new AggregateError(failures, `${failures.length} of the two failed: run, destroy`);
  });
}

async function exercise(cdk: Cdk, aws: Aws, { image, fakes }: Images): Promise<void> {
  const images = {
    ...(image === undefined ? {} : { image }),
    ...(fakes === undefined ? {} : { "fakes-image": fakes }),
  };
  const outputs = await cdk.deploy(images);
  const apiUrl = Object.values(outputs).find((value) => value.includes("lambda-url")) ?? "";
  const api: DeployedApi = { aws, apiUrl };
  for (const act of [health, (each: DeployedApi) => succeeds(each), retries, once, cancels, fires])
    await step(act.name, () => act(api));
  // The administrator came the first time; the second migration has to get on as the owner.
  await step("a second deployment migrates as the owner", () => cdk.deploy({ ...images, release: "second" }));
  await step("and jobs run", () => succeeds(api, "second"));
  const log = idOf(cdk.template(), await physicalIds(aws, stage), "AWS::Logs::LogGroup", /FakesLog/);
  const report = await step("the examples, which take about an hour", () => judgement(aws, log, console.log));
  tell(report);
  tellWhatIsLeft();
}

function tellWhatIsLeft(): 0 {
  console.log(onlyAnAccount);
  return 0;
}

/** Says what is left on purpose: queues, logs and the lock table outlive their stack, and a snapshot the database. */
async function destroy(cdk: Cdk, aws: Aws): Promise<void> {
  try {
    const kept = Object.entries(cdk.template().Resources).filter(([, resource]) =>
      (resource as { DeletionPolicy?: string }).DeletionPolicy?.startsWith("Retain"),
    );
    const ids = await physicalIds(aws, stage);
    await cdk.destroy();
    for (const [id, { Type }] of kept) console.log(`stays   ${Type} ${ids.get(id) ?? id}`);
    console.log("stays   the last snapshot of the database");
  } catch (error) {
    if (/does not exist/.test(String(error))) return;
    console.error(
      `not all of it is gone, and it is paid for; interfaces of functions take half an hour: ${destroyByHand}`,
    );
    throw error;
  }
}

function refused(why: string): number {
  console.error(`smoke:aws deployed nothing: ${why}`);
  return 2;
}
