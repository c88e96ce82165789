/** The first deployment of a new project fails, is cleaned up and is made again, by the commands of docs/deploy.md, on an emulator. */
import { mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Aws, awsAt } from "../../src/aws/aws-call.ts";
import { freePort } from "../../src/local/process/free-port.ts";
import { startPostgres } from "../../src/local/services/postgres.ts";
import { prepareAccount, secretOf } from "../emulator/account.ts";
import { stackNow } from "../emulator/deployed.ts";
import { reachFunctionUrls } from "../emulator/function-url.ts";
import { installMinistack, startMinistack } from "../emulator/ministack.ts";
import { succeeds } from "../emulator/scenario.ts";
import { until } from "../proof/until.ts";
import { step } from "../support/steps.ts";
import { run } from "./world.ts";

const stack = "my-jobs-prod";
const region = "us-east-1";
const account = "000000000000";
const rollbackMsMax = 60_000;
const keys = { AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" };

/** The template's app, with a network and a database that the emulator has, and without the alarms that it refuses. */
const app = `import { App, Stack } from "aws-cdk-lib";
import { ContainerImage } from "aws-cdk-lib/aws-ecs";
import { Belfry, usualAlarms } from "belfry/cdk";

const stack = new Stack(new App(), "${stack}", { terminationProtection: false });
new Belfry(stack, "Belfry", {
  stage: "prod",
  network: { kind: "by-parameters" },
  database: { kind: "existing", verifyCertificate: false },
  image: ContainerImage.fromRegistry("my-jobs"),
  alarms: { ...usualAlarms, lockFailedPercent: "none", failedItemsPercent: "none", rescuedPercent: "none" },
});
`;

export async function firstDeployment(folder: string, project: string): Promise<void> {
  const installed = installMinistack(fileURLToPath(new URL("../../.belfry/emulator", import.meta.url)));
  if ("skipped" in installed) {
    if (process.env["CI"]) throw new Error(installed.skipped);
    return console.log(`skipped the first deployment: ${installed.skipped}`);
  }
  Object.assign(process.env, keys);
  const emulated = join(folder, "emulator");
  mkdirSync(emulated);
  const emulator = await startMinistack({ ...installed, folder: emulated, port: await freePort() });
  const postgres = await startPostgres({ folder: join(emulated, "postgres"), port: 0, settings: {} });
  try {
    reachFunctionUrls(emulator.endpoint);
    writeFileSync(join(project, "infra", "app.ts"), app);
    await deployTwice(awsAt(emulator.endpoint, region, account), project, postgres.url);
  } finally {
    await emulator.stop();
    await postgres.stop("immediate");
  }
}

async function deployTwice(aws: Aws, project: string, databaseUrl: string): Promise<void> {
  const environment = {
    ...keys,
    AWS_ENDPOINT_URL: aws.endpoint,
    AWS_REGION: region,
    CDK_DISABLE_CLI_TELEMETRY: "true",
  };
  const set = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const cdk = (...args: readonly string[]) => run(project, "env", ...set, "npx", "cdk", "--no-notices", ...args);
  const deploy = () => cdk("deploy", "--no-rollback", "--require-approval", "never");
  const { username, password } = new URL(databaseUrl);
  const keepPassword = (text: string) =>
    aws.json("secretsmanager", "secretsmanager.PutSecretValue", {
      SecretId: secretOf(`${stack}/prod`),
      SecretString: JSON.stringify({ username, password: text }),
    });
  await step("cdk bootstrap of an emulated account", async () => {
    await prepareAccount(aws, databaseUrl, `${stack}/prod`);
    await keepPassword("not the database's");
    // Beside no app, so that none is synthesized for it.
    const program = join(project, "node_modules", ".bin", "cdk");
    await run(tmpdir(), "env", ...set, program, "--no-notices", "bootstrap", `aws://${account}/${region}`);
  });
  await step("the first deployment fails at the migration, says why and leaves a wreck", async () => {
    const said = await deploy().then(() => "it was deployed", String);
    if (!said.includes("the password was refused")) throw new Error(`it said: ${said.slice(-4_000)}`);
    return `${await expectStatus(aws, "CREATE_FAILED")}, ${(await leftIn(aws)).length} resources that a later destroy would keep`;
  });
  await step("aws cloudformation rollback-stack --retain-except-on-create leaves nothing", async () => {
    const input = { Version: "2010-05-15", StackName: stack, RetainExceptOnCreate: "true" };
    await aws.form("cloudformation", "RollbackStack", input);
    await until("the rollback", rollbackMsMax, async () => !(await stackNow(aws, stack)).status.endsWith("PROGRESS"));
    const left = await leftIn(aws);
    if (left.length > 0) throw new Error(`there are still ${left.join(", ")}`);
    return expectStatus(aws, "ROLLBACK_COMPLETE");
  });
  await keepPassword(decodeURIComponent(password));
  await step("the same cdk deploy --no-rollback deletes the empty stack and succeeds", async () => {
    await deploy();
    return expectStatus(aws, "CREATE_COMPLETE");
  });
  await step("its job runs", async () => {
    const { Outputs } = await stackNow(aws, stack);
    const apiUrl = Outputs.find((value) => value.includes("lambda-url")) ?? "";
    return succeeds({ aws, apiUrl }, "first", { kind: "greet", payload: { name: "Bob" } });
  });
}

async function expectStatus(aws: Aws, wanted: string): Promise<string> {
  const { status } = await stackNow(aws, stack);
  if (status !== wanted) throw new Error(`the stack is ${status}, not ${wanted}`);
  return status;
}

/** Queues, tables and log groups of the stack: what outlives a stack that was deployed once. */
async function leftIn(aws: Aws): Promise<readonly string[]> {
  const answers = await Promise.all([
    aws.json("sqs", "AmazonSQS.ListQueues", {}),
    aws.json("dynamodb", "DynamoDB_20120810.ListTables", {}),
    aws.json("logs", "Logs_20140328.DescribeLogGroups", {}),
  ]);
  const found = JSON.stringify(answers).matchAll(/(?:my-jobs-prod-|cloudformation\/my-jobs-prod\/)[\w-]+(?=")/g);
  return [...new Set([...found].map(([name]) => name))];
}
