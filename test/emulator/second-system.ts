/**
 * Another team's system, with a stage of the same name in the same account and region: it is deployed beside the first,
 * shares nothing with it, runs its jobs, one of them sealed, and is deleted again.
 */
import { at, type Template } from "../../infra/checks/template.ts";
import type { Aws } from "../../src/aws/aws-call.ts";
import { onConnection } from "../../src/postgres/access.ts";
import { until } from "../proof/until.ts";
import { step } from "../support/steps.ts";
import { prepareAccount } from "./account.ts";
import { type Cdk, type CdkOptions, cdkAt, stackOf } from "./cdk.ts";
import { resourcesOf, stackNow } from "./deployed.ts";
import { type DeployedApi, succeeds } from "./scenario.ts";

const first = stackOf("emulator");
const second = "second-emulator";
const secondApp = "test/emulator/second/infra.ts";
const deleteMsMax = 60_000;

interface Both extends Omit<CdkOptions, "stackName"> {
  /** Of the first system. The second has a database of its own on the same server. */
  readonly databaseUrl: string;
  /** The planted fault: the second system has the first one's name. */
  readonly isSameName: boolean;
}

export async function besideASecondSystem(
  aws: Aws,
  cdk: Cdk,
  { databaseUrl, isSameName, ...options }: Both,
): Promise<void> {
  const url = new URL(databaseUrl);
  url.pathname = "/second";
  const other = cdkAt(aws, { ...options, stackName: second });
  await step("cdk deploy of a second system with a stage of this name", async () => {
    await rows(databaseUrl, "create database second");
    await prepareAccount(aws, url.href, `${second}/emulator`);
    await other.deployBy(secondApp, isSameName ? { system: first } : {});
  });
  await step("the two share no name, no parameter and no metric", async () => {
    const [ours, theirs] = [await kept(aws, first, cdk.template()), await kept(aws, second, other.template())];
    const shared = theirs.filter((each) => ours.includes(each));
    if (shared.length > 0) throw new Error(`both systems have\n${shared.join("\n")}`);
    return `${ours.length} of one, ${theirs.length} of the other`;
  });
  await step("each runs its own job", async () => {
    for (const [stack, database] of [
      [first, databaseUrl],
      [second, url.href],
    ] as const) {
      await succeeds(await apiOf(aws, stack), `only-in-${stack}`);
      const found = await rows(database, "select key from belfry.job where key like 'only-in-%'");
      if (JSON.stringify(found) !== JSON.stringify([{ key: `only-in-${stack}` }]))
        throw new Error(`the database of ${stack} has ${JSON.stringify(found)}`);
    }
  });
  await step("a sealed job runs, and no message, no table and no log has its payload", () => runSealed(aws, url.href));
  await step("the second system is deleted", async () => {
    await aws.form("cloudformation", "DeleteStack", { Version: "2010-05-15", StackName: second });
    await until("the stack to be gone", deleteMsMax, () =>
      stackNow(aws, second).then(
        ({ status }) => status === "DELETE_COMPLETE",
        () => true,
      ),
    );
  });
}

const mustBeThere = ["SQS::Queue", "DynamoDB::GlobalTable", "CloudWatch::Alarm", "Logs::LogGroup", "Lambda::Function"];

/** What a system has of its own: physical names, the parameters that it reads, and the series that its alarms watch. */
async function kept(aws: Aws, stack: string, template: Template): Promise<readonly string[]> {
  // A custom resource has no name in the account.
  const resources = (await resourcesOf(aws, stack)).filter(({ type }) => type?.startsWith("AWS::"));
  const parameters = Object.values(template.Parameters ?? {}).map((each) => String(at(each, "Default")));
  const alarms = resources.filter(({ type }) => type === "AWS::CloudWatch::Alarm").map(({ physicalId }) => physicalId);
  const { MetricAlarms } = await aws.json<{ MetricAlarms: readonly object[] }>(
    "monitoring",
    "GraniteServiceVersion20100801.DescribeAlarms",
    { AlarmNames: alarms },
  );
  const all = [
    ...resources.map(({ type, physicalId }) => `${type} ${physicalId}`),
    ...parameters.filter((each) => each.startsWith("/belfry/")).map((path) => `parameter ${path}`),
    ...MetricAlarms.map(
      (each) =>
        `metric ${["Namespace", "MetricName", "Dimensions"].map((field) => JSON.stringify(at(each, field))).join(" ")}`,
    ),
  ];
  const missing = [...mustBeThere.map((type) => `AWS::${type}`), "parameter", "metric"].filter(
    (kind) => !all.some((each) => each.startsWith(`${kind} `)),
  );
  if (missing.length > 0) throw new Error(`${stack} has no ${missing.join(", ")}`);
  return all;
}

async function apiOf(aws: Aws, stack: string): Promise<DeployedApi> {
  const { Outputs } = await stackNow(aws, stack);
  return { aws, apiUrl: Outputs.find((value) => value.includes("lambda-url")) ?? "" };
}

/** Its payload is checked by the handler's schema, so a job that succeeds has opened it. */
async function runSealed(aws: Aws, databaseUrl: string): Promise<string> {
  const secret = "Ada Lovelace, 4711";
  const api = await apiOf(aws, second);
  const job = { kind: "pay", payload: { to: secret }, delay: "10s" };
  const [messages, said] = await Promise.all([messagesThatWait(aws), succeeds(api, "sealed", job)]);
  for (const text of [secret, "v1.payroll."])
    if (messages.includes(text)) throw new Error(`a queue has the payload: ${messages}`);
  const tables = await rows(databaseUrl, "select tablename as name from pg_tables where schemaname = 'belfry'");
  for (const { name } of tables) {
    const readable = await rows(
      databaseUrl,
      `select 1 from belfry."${String(name)}" as t where t::text like '%${secret}%'`,
    );
    if (readable.length > 0) throw new Error(`the table ${String(name)} has the payload`);
  }
  const [row] = await rows(databaseUrl, "select payload::text, result::text from belfry.job where key = 'sealed'");
  for (const text of Object.values(row ?? { payload: "" }))
    if (!String(text).includes("v1.payroll.")) throw new Error(`it is not sealed: ${JSON.stringify(row)}`);
  const groups = (await resourcesOf(aws, second)).filter(({ type }) => type === "AWS::Logs::LogGroup");
  for (const { physicalId: logGroupName } of groups) {
    const found = await aws.json<{ events: readonly object[] }>("logs", "Logs_20140328.FilterLogEvents", {
      logGroupName,
    });
    if (JSON.stringify(found.events).includes(secret)) throw new Error(`the log ${logGroupName} has the payload`);
  }
  return `${said}, ${tables.length} tables, ${groups.length} logs`;
}

/** ministack shows what lies in a queue, before its delay is over too. */
function messagesThatWait(aws: Aws): Promise<string> {
  return until("the message of the job that waits", deleteMsMax, async () => {
    const queues = (await resourcesOf(aws, second)).filter(({ type }) => type === "AWS::SQS::Queue");
    const found = await Promise.all(
      queues.map(({ physicalId }) =>
        aws.get<object>("sqs", `/_ministack/sqs/messages?QueueUrl=${encodeURIComponent(physicalId)}`),
      ),
    );
    const text = JSON.stringify(found);
    return text.includes('"Body"') ? text : false;
  });
}

const rows = (databaseUrl: string, sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> =>
  onConnection({ url: databaseUrl }, async (client) => (await client.query<Record<string, unknown>>(sql)).rows);
