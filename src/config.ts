import { z } from "zod";
import type { DatabaseAuth } from "./adapters/aws/database-password.ts";
import type { AwsSettings } from "./adapters/aws/endpoint.ts";
import type { TaskPlace } from "./adapters/aws/task-launcher.ts";
import type { EventSinkSettings } from "./adapters/events/sink.ts";
import { addressProblem, withoutPassword } from "./adapters/postgres/address.ts";
import { type CrashPlan, parseCrashPlans } from "./adapters/crash-point.ts";
import { type LogLevel, logLevels } from "./adapters/telemetry/log.ts";
import { deliveryLimits } from "./core/ports/delivery-limits.ts";
import { lockLimits } from "./core/lock/lock-limits.ts";
import { passLimits } from "./core/scheduler/pass-limits.ts";
import { type Problem, ProblemsFound } from "./core/define/problem.ts";
import { type Stage, stageNamed, stageNames } from "./stages.ts";

/** Everything a process learns from its environment, parsed once and before anything is opened. */
export interface Config {
  readonly stage: Stage;
  readonly databaseUrl: string;
  readonly databaseAuth: DatabaseAuth;
  /** A PEM file of the authorities that may have signed the server's certificate; null leaves TLS to the URL. */
  readonly databaseCaFile: string | null;
  /** `AWS_ENDPOINT_URL_SECRETS_MANAGER`, else `AWS_ENDPOINT_URL`; null is the service of the region. */
  readonly secretsEndpoint: string | null;
  readonly aws: AwsSettings;
  /** Queue URLs by lane where a deployment knows them; other lanes are looked up by name. */
  readonly queueUrls: Readonly<Record<string, string>>;
  /** The lock table where a deployment knows it; else the name in the topology. */
  readonly lockTable: string | null;
  /** Where the tasks of jobs on Fargate run; null runs such jobs in their worker. */
  readonly tasks: TaskPlace | null;
  /** Where events are published; null: nowhere. */
  readonly eventSink: EventSinkSettings | null;
  /** `AWS_ENDPOINT_URL_EVENTBRIDGE`, else `AWS_ENDPOINT_URL`; null is the service of the region. */
  readonly eventBridgeEndpoint: string | null;
  readonly logLevel: LogLevel;
  readonly lockLeaseMs: number;
  readonly passMs: number;
  /** Connections, or null for the topology's number. */
  readonly poolSize: number | null;
  readonly onLockOutage: "postgres" | "skip";
  readonly dispatchWindowMs: number;
  /** Modules whose default export is an array of apps, in place of the stage's own; null for those. */
  readonly appModules: readonly string[] | null;
  readonly crashPlans: readonly CrashPlan[];
  /** Seconds of the system per second of the machine; other than 1 only in a compressed local run. */
  readonly timeScale: number;
  /** `HH:MM` in UTC at which the clock of a fresh compressed run begins; null begins now. */
  readonly timeStart: string | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * @throws ProblemsFound with every problem at once: name, value, rule and what to do. Passwords are not shown.
 */
export function readConfig(environment: Environment): Config {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
  const parsed = settings.safeParse(given);
  const problems = parsed.success
    ? relations(parsed.data)
    : parsed.error.issues.map((issue) => problemOf(issue, given));
  if (!parsed.success || problems.length > 0) throw new ProblemsFound(problems);
  return configOf(parsed.data);
}

/**
 * What is wrong with the settings there are. `complete` also says what a process would miss; without it a checkout that
 * has no database yet is fine.
 */
export function configProblems(environment: Environment, { complete }: { complete: boolean }): readonly Problem[] {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
  const standIns = complete ? {} : { DATABASE_URL: "postgresql://127.0.0.1/belfry", AWS_REGION: "us-east-1" };
  try {
    readConfig({ ...standIns, ...given });
    return [];
  } catch (error) {
    if (error instanceof ProblemsFound) return error.problems;
    throw error;
  }
}

type Settings = z.infer<typeof settings>;

const rule = (text: string) => ({ error: text });
const endpoint = z
  .url({ protocol: /^https?$/, error: "must be an http or https URL, for example http://127.0.0.1:4566" })
  .optional();
const milliseconds = (min: number, max: number) =>
  z.coerce
    .number(rule(`must be a number of milliseconds from ${min} to ${max}`))
    .int()
    .min(min, rule(`must be at least ${min} (milliseconds)`))
    .max(max, rule(`must be at most ${max} (milliseconds)`));

const taskPlace = z.object(
  {
    cluster: z.string(),
    taskDefinition: z.string(),
    container: z.string(),
    subnets: z.array(z.string()),
    securityGroups: z.array(z.string()),
    assignPublicIp: z.boolean(),
  },
  rule("must be JSON with cluster, taskDefinition, container, subnets, securityGroups and assignPublicIp"),
);

const settings = z.object({
  BELFRY_STAGE: z
    .enum(stageNames as [string, ...string[]], rule(`must be a stage of src/stages.ts: ${stageNames.join(", ")}`))
    .default("dev"),
  DATABASE_URL: z.string(rule(addressProblem("") ?? "")).superRefine((text, found) => {
    const message = addressProblem(text);
    if (message !== null) found.addIssue({ code: "custom", message });
  }),
  AWS_REGION: z
    .string()
    .regex(/^[a-z]{2}(-[a-z]+)+-\d$/, rule("must be a region, for example eu-west-1"))
    .optional(),
  AWS_USE_DUALSTACK_ENDPOINT: z.enum(["true", "false"], rule("must be true or false")).default("false"),
  AWS_ENDPOINT_URL: endpoint,
  AWS_ENDPOINT_URL_SQS: endpoint,
  AWS_ENDPOINT_URL_DYNAMODB: endpoint,
  AWS_ENDPOINT_URL_ECS: endpoint,
  AWS_ENDPOINT_URL_SECRETS_MANAGER: endpoint,
  AWS_ENDPOINT_URL_EVENTBRIDGE: endpoint,
  BELFRY_DATABASE_AUTH: z.enum(["password", "iam"], rule("must be password or iam")).default("password"),
  BELFRY_DATABASE_SECRET: z
    .string()
    .regex(/^arn:aws[\w-]*:secretsmanager:/, rule("must be the ARN of a secret in Secrets Manager"))
    .optional(),
  BELFRY_DATABASE_CA: z.string().optional(),
  BELFRY_QUEUE_URLS: z
    .string()
    .transform(parseJson)
    .pipe(
      z.record(
        z.string(),
        z.url(),
        rule('must be JSON with a URL for each lane, for example {"default":"https://..."}'),
      ),
    )
    .default({}),
  BELFRY_LOCK_TABLE: z
    .string()
    .regex(/^[\w.-]{3,255}$/, rule("must be a DynamoDB table name"))
    .optional(),
  BELFRY_TASKS: z.string().transform(parseJson).pipe(taskPlace).optional(),
  BELFRY_EVENT_BUS: z
    .string()
    .regex(/^[\w./:-]{1,1600}$/, rule("must be the name or the ARN of an EventBridge bus"))
    .optional(),
  BELFRY_EVENT_WEBHOOK: endpoint,
  BELFRY_EVENT_WEBHOOK_SECRET: z
    .string()
    .min(16, rule("must be at least 16 characters; it signs what is sent"))
    .optional(),
  BELFRY_LOG_LEVEL: z.enum(logLevels, rule(`must be one of ${logLevels.join(", ")}`)).default("info"),
  BELFRY_LOCK_LEASE_MS: milliseconds(1_000, 600_000).default(lockLimits.lockLeaseMs),
  BELFRY_PASS_MS: milliseconds(0, 840_000).default(passLimits.passMs),
  BELFRY_POOL_SIZE: z.coerce
    .number(rule("must be a number from 1 to 100"))
    .int()
    .min(1)
    .max(100, rule("must be a number from 1 to 100"))
    .optional(),
  BELFRY_ON_LOCK_OUTAGE: z.enum(["postgres", "skip"], rule("must be postgres or skip")).optional(),
  BELFRY_DISPATCH_WINDOW_MS: milliseconds(0, deliveryLimits.queueDelayMsMax).optional(),
  BELFRY_APPS: z
    .string()
    .transform((text) => text.split(","))
    .pipe(z.array(z.url({ protocol: /^file$/, error: "must be file URLs of modules, separated by commas" })))
    .optional(),
  BELFRY_CRASH_POINT: z
    .string()
    .transform(parseCrashPlans)
    .refine((plans) => plans !== null, rule("must be NAME:ORDINAL or NAME:ORDINAL:stop, for example relay.sent:2"))
    .optional(),
  BELFRY_TIME_SCALE: z.coerce
    .number(rule("must be a number from 1 to 1000"))
    .min(1, rule("must be at least 1"))
    .max(1_000, rule("must be at most 1000"))
    .default(1),
  BELFRY_TIME_START: z
    .string()
    .regex(/^([01]\d|2[0-3]):[0-5]\d$/, rule("must be HH:MM in UTC, for example 22:49"))
    .optional(),
});

/** What each setting alone cannot say. */
function relations(value: Settings): readonly Problem[] {
  const problems: Problem[] = [];
  const add = (field: string, shown: string, text: string, fix: string): void => {
    problems.push({ thing: "setting", field, value: shown, rule: text, fix });
  };
  const local = value.AWS_ENDPOINT_URL ?? (value.AWS_ENDPOINT_URL_SQS && value.AWS_ENDPOINT_URL_DYNAMODB);
  if (value.AWS_REGION === undefined && local === undefined) {
    add(
      "AWS_REGION",
      "(missing)",
      "is needed unless endpoints replace the services",
      "set it to the region of the stage",
    );
  }
  if (value.BELFRY_DATABASE_AUTH === "iam" && value.BELFRY_DATABASE_SECRET !== undefined) {
    const { BELFRY_DATABASE_SECRET: arn } = value;
    add("BELFRY_DATABASE_SECRET", arn, "goes with password, not with iam", "unset one of the two");
  }
  if (value.BELFRY_DATABASE_AUTH === "iam" && value.BELFRY_DATABASE_CA === undefined) {
    const fix = "name the PEM file of the RDS certificate authorities";
    add("BELFRY_DATABASE_CA", "(missing)", "is needed with iam: a token must not go to an unverified server", fix);
  }
  const { BELFRY_EVENT_BUS: bus, BELFRY_EVENT_WEBHOOK: webhook, BELFRY_EVENT_WEBHOOK_SECRET: secret } = value;
  if (bus !== undefined && webhook !== undefined) {
    add("BELFRY_EVENT_WEBHOOK", webhook, "events go to one place: a bus or a webhook", "unset one of the two");
  }
  if (webhook !== undefined && secret === undefined) {
    const fix = "set it to a random text that the receiver knows too";
    add("BELFRY_EVENT_WEBHOOK_SECRET", "(missing)", "is needed with BELFRY_EVENT_WEBHOOK", fix);
  }
  if (value.BELFRY_CRASH_POINT !== undefined && value.BELFRY_STAGE === "prod") {
    add("BELFRY_CRASH_POINT", "(set)", "kills processes on purpose and is refused in prod", "unset it");
  }
  const { BELFRY_DISPATCH_WINDOW_MS: ahead } = value;
  if (ahead !== undefined && ahead < passLimits.wakeMs && local === undefined) {
    const late = `must be at least ${passLimits.wakeMs}, the time between two wakes: what is due between them would be late`;
    add("BELFRY_DISPATCH_WINDOW_MS", String(ahead), late, "raise it, or unset it for the stage's own");
  }
  const { BELFRY_TIME_SCALE: scale, BELFRY_TIME_START: start } = value;
  const compressed = "compresses time, which the real services cannot follow";
  if (scale !== 1 && local === undefined) add("BELFRY_TIME_SCALE", String(scale), compressed, "unset it");
  if (start !== undefined && local === undefined) add("BELFRY_TIME_START", start, compressed, "unset it");
  return problems;
}

function configOf(value: Settings): Config {
  const stage = stageNamed(value.BELFRY_STAGE);
  return {
    stage,
    databaseUrl: value.DATABASE_URL,
    databaseAuth: authOf(value),
    databaseCaFile: value.BELFRY_DATABASE_CA ?? null,
    secretsEndpoint: value.AWS_ENDPOINT_URL_SECRETS_MANAGER ?? value.AWS_ENDPOINT_URL ?? null,
    aws: {
      region: value.AWS_REGION ?? "us-east-1",
      sqsEndpoint: value.AWS_ENDPOINT_URL_SQS ?? value.AWS_ENDPOINT_URL ?? null,
      dynamodbEndpoint: value.AWS_ENDPOINT_URL_DYNAMODB ?? value.AWS_ENDPOINT_URL ?? null,
      ecsEndpoint: value.AWS_ENDPOINT_URL_ECS ?? value.AWS_ENDPOINT_URL ?? null,
      isDualStack: value.AWS_USE_DUALSTACK_ENDPOINT === "true",
    },
    queueUrls: value.BELFRY_QUEUE_URLS,
    lockTable: value.BELFRY_LOCK_TABLE ?? null,
    tasks: value.BELFRY_TASKS ?? null,
    eventSink: sinkOf(value, stage),
    eventBridgeEndpoint: value.AWS_ENDPOINT_URL_EVENTBRIDGE ?? value.AWS_ENDPOINT_URL ?? null,
    logLevel: value.BELFRY_LOG_LEVEL,
    lockLeaseMs: value.BELFRY_LOCK_LEASE_MS,
    passMs: value.BELFRY_PASS_MS,
    poolSize: value.BELFRY_POOL_SIZE ?? null,
    onLockOutage: value.BELFRY_ON_LOCK_OUTAGE ?? stage.onLockOutage,
    dispatchWindowMs: value.BELFRY_DISPATCH_WINDOW_MS ?? stage.dispatchWindowMs,
    appModules: value.BELFRY_APPS ?? null,
    crashPlans: value.BELFRY_CRASH_POINT ?? [],
    timeScale: value.BELFRY_TIME_SCALE,
    timeStart: value.BELFRY_TIME_START ?? null,
  };
}

/** The environment's, else the stage's own bus. */
function sinkOf(value: Settings, stage: Stage): EventSinkSettings | null {
  const { BELFRY_EVENT_WEBHOOK: url, BELFRY_EVENT_WEBHOOK_SECRET: secret } = value;
  if (url !== undefined && secret !== undefined) return { kind: "webhook", url, secret };
  const bus = value.BELFRY_EVENT_BUS ?? stage.eventBus;
  return bus === undefined ? null : { kind: "bus", bus };
}

function authOf(value: Settings): DatabaseAuth {
  if (value.BELFRY_DATABASE_SECRET !== undefined) return { kind: "secret", arn: value.BELFRY_DATABASE_SECRET };
  return { kind: value.BELFRY_DATABASE_AUTH };
}

function problemOf(issue: z.core.$ZodIssue, given: Environment): Problem {
  const field = String(issue.path[0] ?? "(environment)");
  const value = given[field];
  const shown = value === undefined ? "(missing)" : JSON.stringify(withoutPassword(value));
  return { thing: "setting", field, value: shown, rule: issue.message, fix: fixes[field] ?? "change or unset it" };
}

const fixes: Readonly<Record<string, string>> = {
  DATABASE_URL: "set it to the database of the stage, or use npm start, which brings its own",
};

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
