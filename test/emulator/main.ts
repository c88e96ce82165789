/**
 * `npm run deploy:emulator`: the real CDK CLI deploys the stage `emulator` to an AWS emulator on loopback; the deployed
 * system is exercised, compared with its template, deployed again without and with a change, and destroyed.
 * `-- --endpoint URL` takes an emulator that runs already, for example LocalStack. `-- --same-name` plants a fault that must
 * be found: a second system of the first one's name.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Client } from "pg";
import type { FakeProcess } from "../../examples/fake/start.ts";
import { bundle } from "../../infra/bundle.ts";
import { project } from "../support/own-project.ts";
import { freePort } from "../../src/local/process/free-port.ts";
import { startPostgres } from "../../src/local/services/postgres.ts";
import { prepareAccount } from "./account.ts";
import { audit, idOf, judge, substitutes } from "./audit.ts";
import { type Aws, awsAt } from "../../src/aws/aws-call.ts";
import { type Cdk, cdkAt } from "./cdk.ts";
import { quizOfADay, startPushService } from "./daily-quiz.ts";
import { physicalIds } from "./deployed.ts";
import { goBack } from "./going-back.ts";
import { dropped, unread } from "./gaps.ts";
import { reachFunctionUrls } from "./function-url.ts";
import { installMinistack, startMinistack } from "./ministack.ts";
import { callerAccount, preflight } from "../../src/cli/preflight.ts";
import { passOrFail, step } from "../support/steps.ts";
import { besideASecondSystem } from "./second-system.ts";
import { type Deployed, steps } from "./scenario.ts";

const folder = join(fileURLToPath(new URL("../../", import.meta.url)), ".belfry", "emulator");
const run = join(folder, "run");
const account = "000000000000";
const region = "us-east-1";

// Nothing here is AWS's: any keys do, and none of a person's are used.
const keys = { AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" };
Object.assign(process.env, keys);
process.exitCode = await main();

async function main(): Promise<number> {
  const options = { endpoint: { type: "string" }, "same-name": { type: "boolean", default: false } } as const;
  const { values } = parseArgs({ options });
  rmSync(run, { recursive: true, force: true });
  mkdirSync(run, { recursive: true });
  const emulator =
    values.endpoint === undefined ? await ownEmulator() : { endpoint: values.endpoint, stop: async () => {} };
  if ("skipped" in emulator) {
    console.log(`deploy:emulator was skipped: ${emulator.skipped}`);
    return process.env["CI"] ? 1 : 0;
  }
  const postgres = await startPostgres({ folder: join(run, "postgres"), port: 0, settings: {} });
  const push = await startPushService();
  try {
    reachFunctionUrls(emulator.endpoint);
    const aws = awsAt(emulator.endpoint, region, account);
    const given = { databaseUrl: postgres.url, push, isSameName: values["same-name"] };
    return await passOrFail(() => exercise(aws, given));
  } finally {
    await push.stop();
    await emulator.stop();
    await postgres.stop("immediate");
  }
}

async function ownEmulator() {
  const installed = installMinistack(folder);
  if ("skipped" in installed) return installed;
  return startMinistack({ program: installed.program, folder: run, port: await freePort() });
}

interface Given {
  readonly databaseUrl: string;
  readonly push: FakeProcess;
  readonly isSameName: boolean;
}

async function exercise(aws: Aws, { databaseUrl, push, isSameName }: Given): Promise<void> {
  const cdk = cdkAt(aws, { folder: run, stage: "emulator", environment: { ...keys, ...push.env } });
  await step("an account with a network, a database and its secret", () => prepareAccount(aws, databaseUrl));
  await step("cdk bootstrap", () => cdk.bootstrap());
  await step("smoke:aws looks at the account and says what is missing", () => lookBefore(aws));
  const outputs = await step("cdk deploy", () => cdk.deploy());
  await step("what was deployed is the template", async () => {
    const found = await audit(aws, cdk.template());
    judge(found);
    return `${found.properties} properties of ${found.resources} resources, ${Object.keys(dropped).length} known gaps`;
  });
  for (const [field, why] of Object.entries({ ...dropped, ...unread })) console.log(`gap     ${field}: ${why}`);
  const beside = { folder: join(run, "second"), stage: "emulator", environment: keys };
  await besideASecondSystem(aws, cdk, { ...beside, databaseUrl, isSameName });
  await scenario(aws, cdk, { outputs, databaseUrl, push });
  await step("cdk deploy again changes nothing", async () => {
    await cdk.deploy();
    if (!cdk.said().includes("no changes")) throw new Error(`the second deploy changed something:\n${cdk.said()}`);
  });
  await step("cdk deploy with another image changes the task", () => changeImage(aws, cdk));
  await goBack(aws, cdk, databaseUrl);
  for (const substitute of substitutes) console.log(`instead ${substitute}`);
  await step("cdk destroy", () => cdk.destroy());
}

interface Parts extends Omit<Given, "isSameName"> {
  readonly outputs: Readonly<Record<string, string>>;
}

async function scenario(aws: Aws, cdk: Cdk, { outputs, databaseUrl, push }: Parts): Promise<void> {
  const template = cdk.template();
  const ids = await physicalIds(aws);
  const client = new Client({ connectionString: databaseUrl });
  client.on("error", () => {});
  await client.connect();
  const taskBundle = join(run, "image", "main.mjs");
  await bundle("scheduler-task/main", taskBundle, { project });
  const deployed: Deployed = {
    aws,
    apiUrl: Object.values(outputs).find((value) => value.includes("lambda-url")) ?? "",
    queueUrl: idOf(template, ids, "AWS::SQS::Queue", /Lanedefault.*Queue/),
    deadLetterUrl: idOf(template, ids, "AWS::SQS::Queue", /Lanedefault.*DeadLetters/),
    taskDefinition: idOf(template, ids, "AWS::ECS::TaskDefinition", /^/),
    taskBundle,
    count: async (sql) => (await client.query<{ count: number }>(sql)).rows[0]?.count ?? 0,
  };
  try {
    for (const [name, act] of steps) await step(name, () => act(deployed));
    await step("the daily quiz is triggered twice, as docs/deploy.md has it", () => quizOfADay(deployed, push.home));
  } finally {
    await client.end();
  }
}

/** The emulator has no role of ECS and its own engine versions; what it has must be found. */
async function lookBefore(aws: Aws): Promise<string> {
  const seen = await callerAccount(aws);
  if (seen !== aws.account) throw new Error(`STS says account ${seen}, not ${aws.account}`);
  const findings = await preflight(aws, project, "smoke");
  const found = findings.filter(({ ok }) => ok).map(({ name }) => name);
  if (!["bootstrap", "stack", "Lambda concurrency"].every((name) => found.includes(name))) {
    throw new Error(`found only ${found.join()}:\n${findings.map(({ detail }) => detail).join("\n")}`);
  }
  return `${found.length} of ${findings.length} found`;
}

async function changeImage(aws: Aws, cdk: Cdk): Promise<string> {
  const find = async () => idOf(cdk.template(), await physicalIds(aws), "AWS::ECS::TaskDefinition", /^/);
  const before = await find();
  await cdk.deploy({ image: "belfry-emulator:next" });
  const after = await find();
  if (before === after) throw new Error(`the task definition is still ${before}`);
  return `${before.split("/").at(-1)} -> ${after.split("/").at(-1)}`;
}
