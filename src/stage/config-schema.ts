import { z } from "zod";
import { archivePlaceProblem } from "../aws/archive/open.ts";
import { addressProblem } from "../postgres/address.ts";
import { webhookAddress, webhookSecrets } from "../aws/events/webhook.ts";
import { parseCrashPlans } from "./crash-point.ts";
import { logLevels } from "../aws/telemetry/log.ts";
import { lockLimits } from "../machine/lock.ts";
import { deliveryLimits } from "../machine/delivery-limits.ts";
import { passLimits } from "../schedule/pass-limits.ts";
import { systemName } from "./deployed-api.ts";

export type Variables = z.infer<typeof variables>;

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

const whole = (min: number, max: number) => {
  const error = rule(`must be a whole number from ${min} to ${max}`);
  return z.coerce.number(error).int(error).min(min, error).max(max, error).optional();
};
const matching = (form: RegExp, text: string) => z.string().regex(form, rule(text));
const json = <T extends z.ZodType>(schema: T) => z.string().transform(parseJson).pipe(schema);
/** By a look that says what is wrong with a text. */
const checkedBy = (problemOf: (text: string) => string | null) => (text: string, found: z.RefinementCtx) => {
  const message = problemOf(text);
  if (message !== null) found.addIssue({ code: "custom", message });
};

const taskPlace = z.object(
  {
    cluster: z.string(),
    taskDefinition: z.string(),
    container: z.string(),
    subnets: z.array(z.string()),
    securityGroups: z.array(z.string()),
    assignPublicIp: z.boolean(),
    taskRole: z.string().optional(),
    environment: z.record(z.string(), z.string()).optional(),
  },
  rule("must be JSON with cluster, taskDefinition, container, subnets, securityGroups and assignPublicIp"),
);

export const sealKey = /^arn:aws[\w-]*:kms:[\w-]+:\d{12}:(key|alias)\/.+$|^(local:[A-Za-z0-9+/]{43}=,?)+$/;
const sealRule =
  'must be JSON with the ARN of a KMS key for each name, {"payroll":"arn:aws:kms:..."}, or on one machine "local:" and 32 bytes in base64';

/** Every variable a process reads, each by itself. */
export const variables = z.object({
  BELFRY_STAGE: z.string().default("dev"),
  BELFRY_SYSTEM: matching(
    systemName,
    "must be letters, digits and hyphens, beginning with a letter, at most 128",
  ).default("belfry"),
  DATABASE_URL: z.string(rule(addressProblem("") ?? "")).superRefine(checkedBy(addressProblem)),
  AWS_REGION: matching(/^[a-z]{2}(-[a-z]+)+-\d$/, "must be a region, for example eu-west-1").optional(),
  BELFRY_DUALSTACK: z.enum(["true", "false"], rule("must be true or false")).default("false"),
  AWS_ENDPOINT_URL: endpoint,
  AWS_ENDPOINT_URL_SQS: endpoint,
  AWS_ENDPOINT_URL_S3: endpoint,
  AWS_ENDPOINT_URL_DYNAMODB: endpoint,
  AWS_ENDPOINT_URL_ECS: endpoint,
  AWS_ENDPOINT_URL_SECRETS_MANAGER: endpoint,
  AWS_ENDPOINT_URL_SSM: endpoint,
  AWS_ENDPOINT_URL_KMS: endpoint,
  AWS_ENDPOINT_URL_EVENTBRIDGE: endpoint,
  BELFRY_DATABASE_AUTH: z.enum(["password", "iam"], rule("must be password or iam")).default("password"),
  BELFRY_DATABASE_SECRET: matching(
    /^arn:aws[\w-]*:secretsmanager:/,
    "must be the ARN of a secret in Secrets Manager",
  ).optional(),
  BELFRY_DATABASE_CA: z.string().optional(),
  BELFRY_QUEUE_URLS: json(
    z.record(z.string(), z.url(), rule('must be JSON with a URL for each lane, for example {"default":"https://..."}')),
  ).default({}),
  BELFRY_SECRETS: json(
    z.record(z.string(), z.string(), rule('must be JSON with an ARN or a path for each name, {"KEY":"/prod/key"}')),
  ).default({}),
  BELFRY_SEALS: json(z.record(z.string(), matching(sealKey, sealRule), rule(sealRule))).default({}),
  BELFRY_DATABASE_USD: matching(
    /^\d{1,9}(\.\d+)?$/,
    "must be what the database costs a month in USD, for example 106.40",
  )
    .transform(Number)
    .optional(),
  BELFRY_LOCK_TABLE: matching(/^[\w.-]{3,255}$/, "must be a DynamoDB table name").optional(),
  BELFRY_TASKS: json(taskPlace).optional(),
  BELFRY_EVENT_BUS: matching(/^[\w./:-]{1,1600}$/, "must be the name or the ARN of an EventBridge bus").optional(),
  BELFRY_ARCHIVE: z.string().superRefine(checkedBy(archivePlaceProblem)).optional(),
  BELFRY_EVENT_WEBHOOK: webhookAddress.optional(),
  BELFRY_EVENT_WEBHOOK_SECRET: webhookSecrets.optional(),
  BELFRY_LOG_LEVEL: z.enum(logLevels, rule(`must be one of ${logLevels.join(", ")}`)).default("info"),
  BELFRY_LOCK_LEASE_MS: milliseconds(1_000, 600_000).default(lockLimits.lockLeaseMs),
  BELFRY_PASS_MS: milliseconds(0, 840_000).default(passLimits.passMs),
  BELFRY_POOL_SIZE: whole(1, 100),
  BELFRY_CELL: whole(0, 63),
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
  BELFRY_TIME_START: matching(/^([01]\d|2[0-3]):[0-5]\d$/, "must be HH:MM in UTC, for example 22:49").optional(),
});

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
