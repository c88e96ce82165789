/** What makes a deployment to an account fail late, looked at early: each finding says what to do. */
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { engineVersions } from "../../infra/engines.ts";
import type { Deployment } from "../../infra/stages.ts";
import type { Aws } from "../adapters/aws/aws-call.ts";
import { loadApps } from "../apps.ts";
import { type Project, stageNamed } from "../project.ts";
import { topology, type Topology } from "../topology.ts";
import { findApi } from "./find-api.ts";
import type { Finding } from "./finding.ts";

/** URIs. */
export interface Images {
  readonly image?: string | undefined;
  readonly fakes?: string | undefined;
}

type Look = readonly [name: string, fix: string, look: () => Promise<string>];

const stackOf = (stage: string): string => `belfry-${stage}`;

/** @param images that are built already: with both, nothing is built here. */
export async function preflight(
  aws: Aws,
  project: Project,
  stage: string,
  images: Images = {},
): Promise<readonly Finding[]> {
  const deployment = await ownDeployment(project, stage);
  const all = topology(await loadApps(project, stageNamed(project, stage)), stageNamed(project, stage));
  const stack = deployment === null ? "" : await describedStack(aws, stage);
  const looks: readonly Look[] = [
    ["bootstrap", `npx cdk bootstrap aws://${aws.account}/${aws.region}`, () => bootstrapped(aws)],
    [
      "stack",
      "docs/deploy.md, The first deploy failed",
      async () => (deployment === null ? teamStack(aws, stage) : stackState(stage, deployment, stack)),
    ],
    ["image", "start Docker, or name a builder in CDK_DOCKER, or name a built image", async () => builder(images)],
    ["ECS role", "aws iam create-service-linked-role --aws-service-name ecs.amazonaws.com", () => ecsRole(aws)],
    [
      "Lambda concurrency",
      "ask for a higher quota, or lower apiConcurrency and the lanes'",
      () => concurrency(aws, all),
    ],
    ...secretLooks(aws, all),
    // A stack that is there has its network.
    ...(deployment === null || !isAbsent(stack) ? [] : networkLooks(aws, deployment)),
    ...(deployment === null ? [] : engineLooks(aws, deployment)),
  ];
  return Promise.all(
    looks.map(async ([name, fix, look]) => {
      try {
        return { name, ok: true, detail: await look() };
      } catch (error) {
        return { name, ok: false, detail: error instanceof Error ? error.message : String(error), fix };
      }
    }),
  );
}

/** A team's network and database are in its own CDK code; `infra/stages.ts` is of this repository alone. */
async function ownDeployment(project: Project, stage: string): Promise<Deployment | null> {
  if (project.root !== resolve(import.meta.dirname, "../..")) return null;
  const { deploymentOf } = await import("../../infra/stages.ts");
  return deploymentOf(stage);
}

function networkLooks(aws: Aws, { network }: Deployment): readonly Look[] {
  if (network.kind !== "small" && network.kind !== "default") return [];
  const fix = "ask for a higher quota, or delete what is not used";
  const ofVpcs = { action: "DescribeVpcs", pattern: /\bvpc-[0-9a-f]+\b/g, quota: ["vpc", "L-F678F1CE"] } as const;
  const vpcs: Look = ["VPCs", fix, () => room(aws, { ...ofVpcs, more: 1 })];
  if (network.ipv4 !== "gateway") return [vpcs];
  const ofAddresses = { action: "DescribeAddresses", pattern: /\beipalloc-[0-9a-f]+\b/g } as const;
  const addresses = { ...ofAddresses, quota: ["ec2", "L-0263D0A3"], more: network.gateways } as const;
  return [vpcs, ["Elastic IPs", fix, () => room(aws, addresses)]];
}

/** What lanes and the webhook name: a process without its secret does not start. */
function secretLooks(aws: Aws, { lanes, eventWebhook }: Topology): readonly Look[] {
  const named = [...lanes.flatMap(({ secrets }) => Object.values(secrets)), eventWebhook?.secret ?? ""];
  const references = [...new Set(named)].filter((each) => each !== "");
  const fix = "write it before you deploy: docs/deploy.md, What handlers are given";
  return references.map((reference) => [`secret ${reference}`, fix, () => secretThere(aws, reference)]);
}

/** Looks without reading its value. */
async function secretThere(aws: Aws, reference: string): Promise<string> {
  if (/^arn:[\w-]+:secretsmanager:/.test(reference)) {
    await aws.json("secretsmanager", "secretsmanager.DescribeSecret", { SecretId: reference });
  } else await aws.json("ssm", "AmazonSSM.GetParameter", { Name: reference });
  return "is there";
}

function engineLooks(aws: Aws, { database }: Deployment): readonly Look[] {
  if (database.kind === "existing") return [];
  const engine = database.kind === "instance" ? "postgres" : "aurora-postgresql";
  return [["Postgres", "take a version of Postgres that this region offers", () => engineThere(aws, engine)]];
}

/** The account of the credentials. @throws Error where there are none, or AWS refuses them. */
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

/** Every process that may run at once. A new account has 10, of which none can be reserved. */
async function concurrency(aws: Aws, { lanes, deadLetters, api }: Topology): Promise<string> {
  const wanted =
    lanes.reduce((sum, lane) => sum + lane.concurrency, 0) + lanes.length * deadLetters.concurrency + api.concurrency;
  const { AccountLimit } = await aws.get<{
    AccountLimit: { ConcurrentExecutions: number; UnreservedConcurrentExecutions?: number };
  }>("lambda", "/2016-08-19/account-settings/");
  const { ConcurrentExecutions: most, UnreservedConcurrentExecutions: unreserved = most } = AccountLimit;
  if (unreserved < wanted) throw new Error(`${unreserved} of ${most} at once are free, the stage may use ${wanted}`);
  if (api.isReserved && unreserved - unreservedMin < api.concurrency) {
    throw new Error(
      `${unreserved} of ${most} are unreserved and ${unreservedMin} must stay so: ${api.concurrency} cannot be`,
    );
  }
  return `${unreserved} of ${most} at once are free, the stage may use ${wanted}`;
}

/** What Lambda keeps for functions that reserve nothing. */
const unreservedMin = 100;

async function engineThere(aws: Aws, engine: keyof typeof engineVersions): Promise<string> {
  const version = engineVersions[engine];
  const input = { Version: "2014-10-31", Engine: engine, EngineVersion: version };
  const text = await aws.form("rds", "DescribeDBEngineVersions", input);
  const found = new RegExp(`<EngineVersion>(${version}(\\.\\d+)*)</EngineVersion>`).exec(text)?.[1];
  if (found === undefined) throw new Error(`${engine} ${version} is not offered`);
  return `${engine} ${found}`;
}

interface Counted {
  readonly action: string;
  readonly pattern: RegExp;
  /** Of Service Quotas: service and code. */
  readonly quota: readonly [service: string, code: string];
  readonly more: number;
}

/** Of both, in an account that asked for no more. */
const quotaOfNewAccount = 5;

async function room(aws: Aws, { action, pattern, quota, more }: Counted): Promise<string> {
  const text = await aws.form("ec2", action, { Version: "2016-11-15" });
  const used = new Set([...text.matchAll(pattern)].map(([id]) => id)).size;
  const most = await quotaOf(aws, quota);
  if (used + more > most) throw new Error(`${used} are there, ${more} more are needed, and ${most} are allowed`);
  return `${used} of ${most} are there, ${more} more are needed`;
}

/** What the account may have; where that cannot be asked, what a new one may. */
async function quotaOf(aws: Aws, [ServiceCode, QuotaCode]: Counted["quota"]): Promise<number> {
  try {
    const target = "ServiceQuotasV20190624.GetServiceQuota";
    const { Quota } = await aws.json<{ Quota: { Value: number } }>("servicequotas", target, { ServiceCode, QuotaCode });
    return Quota.Value;
  } catch {
    return quotaOfNewAccount;
  }
}

/** States that a deployment leaves behind and the next one does not get over by itself. */
const wrecks = /^(CREATE_FAILED|UPDATE_FAILED|ROLLBACK_COMPLETE|ROLLBACK_FAILED|UPDATE_ROLLBACK_FAILED|DELETE_FAILED)$/;

/** The answer of CloudFormation, or why there is none. */
const describedStack = (aws: Aws, stage: string): Promise<string> =>
  aws
    .form("cloudformation", "DescribeStacks", { Version: "2010-05-15", StackName: stackOf(stage) })
    .catch((error: unknown) => String(error));

const isAbsent = (described: string): boolean => /does not exist/.test(described);

function stackState(stage: string, deployment: Deployment, described: string): string {
  if (isAbsent(described)) return `${stackOf(stage)} is not there: npx cdk deploy ${stackOf(stage)} --no-rollback`;
  const status = /<StackStatus>([^<]+)</.exec(described)?.[1];
  if (status === undefined) throw new Error(described);
  if (wrecks.test(status)) throw new Error(`${stackOf(stage)} is ${status}`);
  return `${stackOf(stage)} is ${status}${protection(deployment)}`;
}

/** A stack of any name. One whose first deployment failed has no outputs, and is not found. */
async function teamStack(aws: Aws, stage: string): Promise<string> {
  const version = "2010-05-15";
  const found = await findApi(stage, (more) =>
    aws.form("cloudformation", "DescribeStacks", { Version: version, ...more }),
  );
  return found === null ? `no stack has stage ${stage} yet: npx cdk deploy` : `stack ${found.stack} has stage ${stage}`;
}

function protection({ terminationProtection, database }: Deployment): string {
  if (database.kind === "existing" || database.onDelete !== "keep" || terminationProtection) return "";
  return "; not protected yet: set terminationProtection of the stack and deletionProtection of its database, and deploy again";
}

function builder({ image, fakes }: Images): string {
  if (image !== undefined && fakes !== undefined) return `${image} and ${fakes}`;
  const program = process.env["CDK_DOCKER"] ?? "docker";
  const { status, stderr, error } = spawnSync(program, ["version"], { encoding: "utf8" });
  if (status !== 0)
    throw new Error(`${program} builds nothing here: ${error?.message ?? stderr.trim().split("\n")[0]}`);
  return `built by ${program}`;
}
