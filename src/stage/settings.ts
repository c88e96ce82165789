import type { z } from "zod";
import type { DatabaseAuth } from "../aws/database-password.ts";
import type { ArchiveSettings } from "../aws/archive/open.ts";
import type { EventSinkSettings } from "../aws/events/sink.ts";
import { withoutPassword } from "../postgres/address.ts";
import { type Variables, variables } from "./config-schema.ts";
import { passLimits } from "../schedule/pass-limits.ts";
import { type Problem, DefinitionProblems } from "../define/problem.ts";

/** Everything a process learns from its environment, parsed once and before anything is opened. */
export type Settings = Readonly<ReturnType<typeof settingsOf>>;

export type Environment = Readonly<Record<string, string | undefined>>;

/** All settings, or everything that is wrong with them: name, value, rule and what to do. Passwords are not shown. */
export function parseSettings(environment: Environment): { settings: Settings | null; problems: readonly Problem[] } {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
  const parsed = variables.safeParse(given);
  if (!parsed.success) return { settings: null, problems: parsed.error.issues.map((issue) => problemOf(issue, given)) };
  const problems = relations(parsed.data);
  return { settings: problems.length > 0 ? null : settingsOf(parsed.data), problems };
}

/** @throws DefinitionProblems with every problem at once. */
export function readSettings(environment: Environment): Settings {
  const { settings, problems } = parseSettings(environment);
  if (settings === null) throw new DefinitionProblems(problems);
  return settings;
}

/** What each setting alone cannot say. */
function relations(value: Variables): readonly Problem[] {
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
  const isKept = Object.hasOwn(value.BELFRY_SECRETS, webhookSecret);
  if (webhook !== undefined && secret === undefined && !isKept) {
    const fix = "set it to a random text that the receiver knows too";
    add(webhookSecret, "(missing)", "is needed with BELFRY_EVENT_WEBHOOK", fix);
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

function settingsOf(value: Variables) {
  return {
    /** Whether there is such a stage, the project says. */
    stageName: value.BELFRY_STAGE,
    /** Distinguishes stages of one name in an account, in metrics. */
    system: value.BELFRY_SYSTEM,
    databaseUrl: value.DATABASE_URL,
    databaseAuth: authOf(value),
    /** What it costs a month; null: not known. */
    databaseUsd: value.BELFRY_DATABASE_USD ?? null,
    /** A PEM file of the authorities that may have signed the server's certificate; null leaves TLS to the URL. */
    databaseCaFile: value.BELFRY_DATABASE_CA ?? null,
    /** `AWS_ENDPOINT_URL_SECRETS_MANAGER`, else `AWS_ENDPOINT_URL`; null is the service of the region. */
    secretsEndpoint: value.AWS_ENDPOINT_URL_SECRETS_MANAGER ?? value.AWS_ENDPOINT_URL ?? null,
    /** `AWS_ENDPOINT_URL_SSM`, else `AWS_ENDPOINT_URL`; null is the service of the region. */
    ssmEndpoint: value.AWS_ENDPOINT_URL_SSM ?? value.AWS_ENDPOINT_URL ?? null,
    /** By name, where the values of secrets are kept; others are in the environment under their own names. */
    secrets: value.BELFRY_SECRETS,
    seals: {
      /** By name: the ARN of a KMS key, or the bytes of one of this machine. `*` stands for every name that has none. */
      keys: value.BELFRY_SEALS,
      region: value.AWS_REGION ?? "us-east-1",
      kmsEndpoint: value.AWS_ENDPOINT_URL_KMS ?? value.AWS_ENDPOINT_URL ?? null,
      isDualStack: value.BELFRY_DUALSTACK === "true",
    },
    aws: {
      region: value.AWS_REGION ?? "us-east-1",
      sqsEndpoint: value.AWS_ENDPOINT_URL_SQS ?? value.AWS_ENDPOINT_URL ?? null,
      dynamodbEndpoint: value.AWS_ENDPOINT_URL_DYNAMODB ?? value.AWS_ENDPOINT_URL ?? null,
      ecsEndpoint: value.AWS_ENDPOINT_URL_ECS ?? value.AWS_ENDPOINT_URL ?? null,
      isDualStack: value.BELFRY_DUALSTACK === "true",
    },
    /** Queue URLs by lane where a deployment knows them; other lanes are looked up by name. */
    queueUrls: value.BELFRY_QUEUE_URLS,
    /** The lock table where a deployment knows it; else the name in the topology. */
    lockTable: value.BELFRY_LOCK_TABLE ?? null,
    /** Where the tasks of jobs on Fargate run; null runs such jobs in their worker. */
    tasks: value.BELFRY_TASKS ?? null,
    /** Where events are published; null: where the stage says. */
    eventSink: sinkOf(value),
    /** Where what is pruned is written first; null: nowhere. */
    archive: archiveOf(value),
    /** `AWS_ENDPOINT_URL_EVENTBRIDGE`, else `AWS_ENDPOINT_URL`; null is the service of the region. */
    eventBridgeEndpoint: value.AWS_ENDPOINT_URL_EVENTBRIDGE ?? value.AWS_ENDPOINT_URL ?? null,
    logLevel: value.BELFRY_LOG_LEVEL,
    lockLeaseMs: value.BELFRY_LOCK_LEASE_MS,
    passMs: value.BELFRY_PASS_MS,
    /** The number of this stage among several cells, 0 to 63; null: it is not one of several. */
    cell: value.BELFRY_CELL ?? null,
    /** Connections, or null for the topology's number. */
    poolSize: value.BELFRY_POOL_SIZE ?? null,
    /** Null: as the stage says. */
    onLockOutage: value.BELFRY_ON_LOCK_OUTAGE ?? null,
    dispatchWindowMs: value.BELFRY_DISPATCH_WINDOW_MS ?? null,
    /** Modules whose default export is an array of apps, in place of the stage's own; null for those. */
    appModules: value.BELFRY_APPS ?? null,
    crashPlans: value.BELFRY_CRASH_POINT ?? [],
    /** Seconds of the system per second of the machine; other than 1 only in a compressed local run. */
    timeScale: value.BELFRY_TIME_SCALE,
    /** `HH:MM` in UTC at which the clock of a fresh compressed run begins; null begins now. */
    timeStart: value.BELFRY_TIME_START ?? null,
  };
}

/** Of the secret that signs events: in the environment, or by reference in `BELFRY_SECRETS`. */
export const webhookSecret = "BELFRY_EVENT_WEBHOOK_SECRET";

function sinkOf(value: Variables): EventSinkSettings | null {
  const { BELFRY_EVENT_WEBHOOK: url, BELFRY_EVENT_WEBHOOK_SECRET: secret } = value;
  if (url !== undefined) return { kind: "webhook", url, secrets: secret ?? null };
  const { BELFRY_EVENT_BUS: bus } = value;
  return bus === undefined ? null : { kind: "bus", bus };
}

function archiveOf(value: Variables): ArchiveSettings | null {
  if (value.BELFRY_ARCHIVE === undefined) return null;
  return {
    url: value.BELFRY_ARCHIVE,
    region: value.AWS_REGION ?? "us-east-1",
    endpoint: value.AWS_ENDPOINT_URL_S3 ?? value.AWS_ENDPOINT_URL ?? null,
  };
}

function authOf(value: Variables): DatabaseAuth {
  if (value.BELFRY_DATABASE_SECRET !== undefined) return { kind: "secret", arn: value.BELFRY_DATABASE_SECRET };
  return { kind: value.BELFRY_DATABASE_AUTH };
}

function problemOf(issue: z.core.$ZodIssue, given: Environment): Problem {
  const field = String(issue.path[0] ?? "(environment)");
  const value = given[field];
  const isKey = field === "BELFRY_SEALS";
  const shown = value === undefined ? "(missing)" : isKey ? "(not shown)" : JSON.stringify(withoutPassword(value));
  return { thing: "setting", field, value: shown, rule: issue.message, fix: fixes[field] ?? "change or unset it" };
}

const fixes: Readonly<Record<string, string>> = {
  DATABASE_URL: "set it to the database of the stage, or use npx belfry dev, which brings its own",
};
