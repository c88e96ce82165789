/** What makes a deployment to an account fail late, looked at early: each finding says what to do. */
import { spawnSync } from "node:child_process";
import type { Aws } from "../aws/aws-call.ts";
import { loadApps } from "../compose/apps.ts";
import { type Project, stageNamed } from "../stage/project.ts";
import { topology, type Topology } from "../stage/topology.ts";
import { recordingInterfaces } from "./config-recording.ts";
import { messageOf } from "./exit.ts";
import { findApi } from "./find-api.ts";
import { type Plan, planOf } from "./plan.ts";

/** One thing that was looked at. `fix` is set when it is not as it should be; beside `ok: true` it is a warning. */
export interface Finding {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly fix?: string;
}

/** URIs. */
export interface Images {
  readonly image?: string | undefined;
  readonly fakes?: string | undefined;
}

type Seen = string | { readonly detail: string; readonly fix: string };
type Look = readonly [name: string, fix: string, look: () => Promise<Seen>];

const imageFix = "start Docker, or name a builder in CDK_DOCKER, or name a built image";

/** @param images that are built already: with both, nothing is built here. */
export async function preflight(
  aws: Aws,
  project: Project,
  stage: string,
  images: Images = {},
): Promise<readonly Finding[]> {
  const plan = await planOf(project, stage);
  const all = topology(await loadApps(project, stageNamed(project, stage)), stageNamed(project, stage));
  const stack = plan === null ? "" : await describedStack(aws, plan.stack);
  const looks: readonly Look[] = [
    ["bootstrap", `npx cdk bootstrap aws://${aws.account}/${aws.region}`, () => bootstrapped(aws)],
    plan === null
      ? ["stack", "npx cdk synth, and look again", () => foundStack(aws, stage)]
      : ["stack", "docs/deploy.md, The first deploy failed", async () => stackState(plan, stack)],
    ...(plan?.buildsImage === false ? [] : [["image", imageFix, async () => builder(images)] as const]),
    ["ECS role", "aws iam create-service-linked-role --aws-service-name ecs.amazonaws.com", () => ecsRole(aws)],
    [
      "Lambda concurrency",
      "ask for a higher quota, or lower apiConcurrency and the lanes'",
      () => concurrency(aws, all),
    ],
    [
      "AWS Config",
      "let your credentials call config:DescribeConfigurationRecorders",
      () => recordingInterfaces(aws, plan?.wakeMinutes ?? [1]),
    ],
    ...secretLooks(aws, all),
    ...(plan === null ? [] : serverLooks(aws, plan)),
    // A stack that is there has its network.
    ...(plan === null || !isAbsent(stack) ? [] : networkLooks(aws, plan)),
  ];
  return Promise.all(
    looks.map(async ([name, fix, look]) => {
      try {
        const seen = await look();
        return { name, ok: true, ...(typeof seen === "string" ? { detail: seen } : seen) };
      } catch (error) {
        return { name, ok: false, detail: messageOf(error), fix };
      }
    }),
  );
}

function networkLooks(aws: Aws, plan: Plan): readonly Look[] {
  if (plan.vpcs === 0) return [];
  const fix = "ask for a higher quota, or delete what is not used";
  const ofVpcs = { action: "DescribeVpcs", pattern: /\bvpc-[0-9a-f]+\b/g, quota: ["vpc", "L-F678F1CE"] } as const;
  const ofAddresses = { action: "DescribeAddresses", pattern: /\beipalloc-[0-9a-f]+\b/g } as const;
  const addresses = { ...ofAddresses, quota: ["ec2", "L-0263D0A3"], more: plan.addresses } as const;
  const { database, zones } = plan;
  const zoneFix = "name two that do in the network: zones: [...]";
  return [
    ["VPCs", fix, () => room(aws, { ...ofVpcs, more: plan.vpcs })],
    ...(plan.addresses === 0 ? [] : [["Elastic IPs", fix, () => room(aws, addresses)] as const]),
    ...(database === null ? [] : [["zones", zoneFix, () => zonesFit(aws, database, zones)] as const]),
    [
      "VPC Block Public Access",
      'take network "default", or a VPC of yours with endpoints: docs/deploy.md, What you need',
      () => publicAccess(aws, plan),
    ],
  ];
}

function serverLooks(aws: Aws, { database }: Plan): readonly Look[] {
  if (database === null) return [];
  const fix = "take a version of Postgres that this region offers";
  return [["Postgres", fix, async () => `${database.engine} ${await engineThere(aws, database)}`]];
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
  await aws.form("iam", "GetRole", { Version: "2010-05-08", RoleName: role }).catch((error: unknown) => {
    throw /NoSuchEntity/.test(String(error)) ? new Error(`the account has no ${role}`) : error;
  });
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
const describedStack = (aws: Aws, StackName: string): Promise<string> =>
  aws
    .form("cloudformation", "DescribeStacks", { Version: "2010-05-15", StackName })
    .catch((error: unknown) => String(error));

const isAbsent = (described: string): boolean => /does not exist/.test(described);

function stackState({ stack, mustLast }: Plan, described: string): string {
  if (isAbsent(described)) return `${stack} is not there: npx cdk deploy ${stack} --no-rollback`;
  const status = /<StackStatus>([^<]+)</.exec(described)?.[1];
  if (status === undefined) throw new Error(described);
  if (wrecks.test(status)) throw new Error(`${stack} is ${status}`);
  const isProtected = /<EnableTerminationProtection>true</.test(described);
  return `${stack} is ${status}${mustLast && !isProtected ? notProtected : ""}`;
}

const notProtected =
  "; not protected yet: set terminationProtection of the stack to true, which its database follows, and deploy again";

/** By its outputs, which one whose first deployment failed does not have. @throws Error where there is none. */
async function foundStack(aws: Aws, stage: string): Promise<string> {
  const version = "2010-05-15";
  const describe = (more: object) => aws.form("cloudformation", "DescribeStacks", { Version: version, ...more });
  const found = await findApi(stage, { named: null, describe });
  if (found !== null) return `stack ${found.stack} has stage ${stage}`;
  throw new Error(`no stack has stage ${stage}, and cdk.out does not say what will be deployed`);
}

function builder({ image, fakes }: Images): string {
  if (image !== undefined && fakes !== undefined) return `${image} and ${fakes}`;
  const program = process.env["CDK_DOCKER"] ?? "docker";
  const { status, stderr, error } = spawnSync(program, ["version"], { encoding: "utf8" });
  if (status !== 0)
    throw new Error(`${program} builds nothing here: ${error?.message ?? stderr.trim().split("\n")[0]}`);
  return `built by ${program}`;
}

type Server = NonNullable<Plan["database"]>;

const rds = "2014-10-31";
const ec2 = "2016-11-15";

/** The newest minor version that the region names. @throws Error where it has none. */
async function engineThere(aws: Aws, { engine, version }: Server): Promise<string> {
  const input = { Version: rds, Engine: engine, EngineVersion: version };
  const text = await aws.form("rds", "DescribeDBEngineVersions", input);
  const found = [...text.matchAll(new RegExp(`<EngineVersion>(${version}(?:\\.\\d+)*)</EngineVersion>`, "g"))].at(
    -1,
  )?.[1];
  if (found === undefined) throw new Error(`${engine} ${version} is not offered`);
  return found;
}

/** A zone that does not offer the instance refuses the subnet group only when the server is made, minutes later. */
async function zonesFit(aws: Aws, server: Server, zones: Plan["zones"]): Promise<string> {
  const version = await engineThere(aws, server).catch(() => null);
  if (version === null) return "are not asked for while the version of Postgres is not offered";
  const taken = zones ?? (await zonesOf(aws)).slice(0, 2);
  const offering = await zonesOffering(aws, { ...server, version });
  const without = taken.filter((zone) => !offering.includes(zone));
  if (without.length === 0) return `${taken.join(" and ")} offer ${server.instanceClass}`;
  throw new Error(
    `${without.join(" and ")} of ${taken.join(", ")} do not offer ${server.instanceClass}, ${offering.join(", ")} do`,
  );
}

async function zonesOf(aws: Aws): Promise<readonly string[]> {
  const filter = { "Filter.1.Name": "zone-type", "Filter.1.Value.1": "availability-zone" };
  const text = await aws.form("ec2", "DescribeAvailabilityZones", { Version: ec2, ...filter });
  return [...text.matchAll(/<zoneName>([^<]+)</g)].map(([, name = ""]) => name).toSorted();
}

async function zonesOffering(aws: Aws, server: Server): Promise<readonly string[]> {
  const text = await aws.form("rds", "DescribeOrderableDBInstanceOptions", {
    Version: rds,
    Engine: server.engine,
    EngineVersion: server.version,
    DBInstanceClass: server.instanceClass,
    Vpc: "true",
  });
  const zones = [...text.matchAll(/<AvailabilityZone>\s*<Name>([^<]+)</g)].map(([, name = ""]) => name);
  if (zones.length === 0)
    throw new Error(`no zone offers ${server.instanceClass} with ${server.engine} ${server.version}`);
  return [...new Set(zones)].toSorted();
}

/**
 * `block-ingress` leaves NAT gateways and egress-only gateways open and closes every address of its own, also to what goes out.
 * https://docs.aws.amazon.com/vpc/latest/userguide/security-vpc-bpa.html
 */
async function publicAccess(aws: Aws, { hasPublicAddresses }: Plan): Promise<string> {
  const text = await aws.form("ec2", "DescribeVpcBlockPublicAccessOptions", { Version: ec2 });
  const mode = /<internetGatewayBlockMode>([^<]+)</.exec(text)?.[1] ?? "off";
  if (mode === "off" || (mode === "block-ingress" && !hasPublicAddresses))
    return `is ${mode}, which lets this network out`;
  throw new Error(
    `is ${mode}: ${mode === "block-ingress" ? "tasks with public addresses do not reach" : "nothing reaches"} AWS's services`,
  );
}
