/** What makes a first deployment to an account fail late, looked at early: each finding says what to do. */
import { spawnSync } from "node:child_process";
import { auroraVersion } from "../../infra/constructs/aurora-serverless.ts";
import { instanceVersion } from "../../infra/constructs/rds-instance.ts";
import { deploymentOf } from "../../infra/stages.ts";
import type { Aws } from "../emulator/aws-call.ts";
import { stackOf } from "../emulator/cdk.ts";

export interface Finding {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** URIs. */
export interface Images {
  readonly image?: string | undefined;
  readonly standIns?: string | undefined;
}

const concurrencyMin = 20;

/** @param images those that others built: where both are, nothing is built here. */
export async function preflight(aws: Aws, stage: string, images: Images = {}): Promise<readonly Finding[]> {
  const { database } = deploymentOf(stage);
  const destroy = `npx cdk destroy ${stackOf(stage)} -c stage=${stage}`;
  const looks: readonly (readonly [name: string, fix: string, look: () => Promise<string>])[] = [
    ["bootstrap", `npx cdk bootstrap aws://${aws.account}/${aws.region}`, () => bootstrapped(aws)],
    ["no stack", `it is of another run, which may still go on; else ${destroy}`, () => absent(aws, stackOf(stage))],
    [
      "image",
      "start Docker, or name a builder in CDK_DOCKER, or pass --image and --stand-ins-image",
      async () => builder(images),
    ],
    ["ECS role", "aws iam create-service-linked-role --aws-service-name ecs.amazonaws.com", () => ecsRole(aws)],
    [
      "Lambda concurrency",
      `ask for a quota of ${concurrencyMin} or more concurrent executions`,
      () => concurrency(aws),
    ],
    ...(database.kind === "existing"
      ? []
      : [
          [
            "Postgres",
            "name an engine version of this region in infra/constructs",
            () =>
              database.kind === "instance"
                ? engineThere(aws, "postgres", instanceVersion)
                : engineThere(aws, "aurora-postgresql", auroraVersion),
          ] as const,
        ]),
  ];
  return Promise.all(
    looks.map(async ([name, fix, look]) => {
      try {
        return { name, ok: true, detail: await look() };
      } catch (error) {
        return { name, ok: false, detail: `${error instanceof Error ? error.message : String(error)}: ${fix}` };
      }
    }),
  );
}

/** The account of the credentials. @throws Error where there are none, or nobody accepts them. */
export async function callerAccount(aws: Aws): Promise<string> {
  const text = await aws.form("sts", "GetCallerIdentity", { Version: "2011-06-15" });
  const account = /<Account>(\d{12})<\/Account>/.exec(text)?.[1];
  if (account === undefined) throw new Error("STS named no account");
  return account;
}

async function bootstrapped(aws: Aws): Promise<string> {
  const name = "/cdk-bootstrap/hnb659fds/version";
  const { Parameter } = await aws.json<{ Parameter: { Value: string } }>("ssm", "AmazonSSM.GetParameter", {
    Name: name,
  });
  return `version ${Parameter.Value}`;
}

async function ecsRole(aws: Aws): Promise<string> {
  const role = "AWSServiceRoleForECS";
  await aws.form("iam", "GetRole", { Version: "2010-05-08", RoleName: role });
  return role;
}

async function concurrency(aws: Aws): Promise<string> {
  const { AccountLimit } = await aws.get<{ AccountLimit: { ConcurrentExecutions: number } }>(
    "lambda",
    "/2016-08-19/account-settings/",
  );
  const { ConcurrentExecutions: most } = AccountLimit;
  if (most < concurrencyMin) throw new Error(`${most} at once, as in a new account`);
  return `${most} at once`;
}

async function engineThere(aws: Aws, engine: string, version: string): Promise<string> {
  const input = { Version: "2014-10-31", Engine: engine, EngineVersion: version };
  const text = await aws.form("rds", "DescribeDBEngineVersions", input);
  if (!text.includes(`<EngineVersion>${version}</EngineVersion>`))
    throw new Error(`${engine} ${version} is not offered`);
  return `${engine} ${version}`;
}

/** What is destroyed at the end must be what this run made. */
async function absent(aws: Aws, stack: string): Promise<string> {
  const input = { Version: "2010-05-15", StackName: stack };
  const found = await aws.form("cloudformation", "DescribeStacks", input).catch((error: unknown) => String(error));
  if (/does not exist/.test(found)) return `${stack} is free`;
  throw new Error(found.includes("<StackId>") ? `${stack} is there already` : found);
}

function builder({ image, standIns }: Images): string {
  if (image !== undefined && standIns !== undefined) return `${image} and ${standIns}`;
  const program = process.env["CDK_DOCKER"] ?? "docker";
  const { status, stderr, error } = spawnSync(program, ["version"], { encoding: "utf8" });
  if (status !== 0)
    throw new Error(`${program} builds nothing here: ${error?.message ?? stderr.trim().split("\n")[0]}`);
  return `built by ${program}`;
}
