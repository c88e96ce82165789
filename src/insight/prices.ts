/** On-demand list prices in USD of one region, before any free tier, discount or tax. */
export interface Price {
  readonly usd: number;
  readonly per: string;
  /** The day of the last check: `scripts/costs.ts` reports old ones. */
  readonly checkedOn: string;
  /** The page to compare it with. */
  readonly source: string;
}

export const region = "us-east-1";
export const hoursAMonth = 730;

const on = "2026-11-21";
const price = (usd: number, per: string, source: string, checkedOn = on): Price => ({
  usd,
  per,
  checkedOn,
  source: `https://aws.amazon.com/${source}/pricing/`,
});

export const prices = {
  "NAT gateway": price(0.045, "hour", "vpc"),
  "NAT gateway, data": price(0.045, "GB", "vpc"),
  "public IPv4 address": price(0.005, "hour", "vpc"),
  "EC2 t4g.micro": price(0.0084, "hour", "ec2"),
  "EBS gp3": price(0.08, "GB-month", "ebs"),
  "RDS db.t4g.small": price(0.032, "hour", "rds/postgresql"),
  "RDS db.t4g.medium": price(0.065, "hour", "rds/postgresql"),
  "RDS gp3": price(0.115, "GB-month", "rds/postgresql"),
  secret: price(0.4, "month", "secrets-manager"),
  "Fargate ARM, CPU": price(0.03238, "vCPU-hour", "fargate"),
  "Fargate ARM, memory": price(0.00356, "GB-hour", "fargate"),
  "Fargate Spot ARM, CPU": price(0.4 * 0.03238, "vCPU-hour", "fargate"),
  "Fargate Spot ARM, memory": price(0.4 * 0.00356, "GB-hour", "fargate"),
  "Lambda, requests": price(0.2, "million", "lambda"),
  "Lambda ARM, duration": price(0.0000133334, "GB-second", "lambda"),
  "SQS, requests": price(0.4, "million", "sqs"),
  "DynamoDB, writes": price(0.625, "million", "dynamodb/on-demand"),
  "DynamoDB, reads": price(0.125, "million", "dynamodb/on-demand"),
  "EventBridge, events": price(1, "million", "eventbridge"),
  "S3, writes": price(0.005, "thousand", "s3", "2026-11-23"),
  "S3 Standard": price(0.023, "GB-month", "s3", "2026-11-23"),
  "CloudWatch metric": price(0.3, "month", "cloudwatch"),
  "CloudWatch alarm, metric": price(0.1, "month", "cloudwatch"),
  "AWS Config, item": price(0.003, "item", "config", "2026-11-24"),
  "CloudWatch logs, written": price(0.5, "GB", "cloudwatch"),
} as const satisfies Readonly<Record<string, Price>>;

export type PriceName = keyof typeof prices;

/** What is used in a month of something with a price. */
export interface Use {
  readonly of: PriceName;
  /** In the price's unit. */
  readonly amount: number;
  /** Where it comes from, in words. */
  readonly what: string;
}

export const use = (of: PriceName, amount: number, what: string): Use => ({ of, amount, what });

export const usdOf = (uses: readonly Use[]): number =>
  uses.reduce((sum, { of, amount }) => sum + amount * prices[of].usd, 0);

export const million = 1_000_000;
export const gb = 1_000_000_000;

/** What no row of a job says. The handler of a call of `invocationMs` takes `handlerMs` of it: the rest is claim, settle and the way out. */
export const assumptions = { invocationMs: 80, handlerMs: 50, logBytesAJob: 500, logBytesAnInvocation: 1_500 } as const;

/** What workers did: attempts that started, the calls of the function that claimed them, and how long these took. */
export interface Work {
  readonly attempts: number;
  readonly calls: number;
  readonly gbSeconds: number;
}

/** A call is a message that is sent, received and deleted too. */
export const workUses = ({ attempts, calls, gbSeconds }: Work): readonly Use[] => [
  use("SQS, requests", (3 * calls) / million, "send, receive, delete"),
  use("Lambda, requests", calls / million, "invocations"),
  use("Lambda ARM, duration", gbSeconds, "run time"),
  use(
    "CloudWatch logs, written",
    (attempts * assumptions.logBytesAJob + calls * assumptions.logBytesAnInvocation) / gb,
    "logs and metrics",
  ),
];
