import { join } from "node:path";
import { startDynamodb } from "./dynamodb.ts";
import { type MailSink, startMailSink } from "./mail.ts";
import { keepPostgres, type KeptPostgres } from "./kept-postgres.ts";
import type { LocalServer } from "./server.ts";
import { startSqs } from "./sqs.ts";

/** The services of this machine. Null where the environment names another one. */
export interface Parts {
  readonly postgres: KeptPostgres | null;
  readonly dynamodb: LocalServer | null;
  readonly sqs: LocalServer | null;
  readonly mail: MailSink;
  /** What every process of the system needs in its environment to find them. */
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

type Environment = Readonly<Record<string, string | undefined>>;

export async function startParts(options: {
  home: string;
  environment: Environment;
  postgresSettings: Readonly<Record<string, string>>;
  /** A service died and is started again. */
  onDied: (error: unknown) => void;
}): Promise<Parts> {
  const { home, environment } = options;
  const given = (name: string): string | null => environment[name] || null;
  const anyEndpoint = given("AWS_ENDPOINT_URL");
  const started: { stop(): Promise<void> }[] = [];
  const start = async <T extends { stop(): Promise<void> }>(
    isGiven: boolean,
    run: () => Promise<T>,
  ): Promise<T | null> => {
    if (isGiven) return null;
    const part = await run();
    started.push(part);
    return part;
  };
  const results = await Promise.allSettled([
    start(given("DATABASE_URL") !== null, () =>
      keepPostgres({ folder: join(home, "postgres"), port: 0, settings: options.postgresSettings }, options.onDied),
    ),
    start((given("AWS_ENDPOINT_URL_DYNAMODB") ?? anyEndpoint) !== null, () =>
      startDynamodb({ folder: join(home, "dynamodb") }),
    ),
    start((given("AWS_ENDPOINT_URL_SQS") ?? anyEndpoint) !== null, () => startSqs()),
    start(false, () => startMailSink({ folder: join(home, "mail") })),
  ] as const);
  const [postgres, dynamodb, sqs, mail] = await allOrNone(results, started);
  if (mail === null) throw new Error("the mail sink did not start");
  return {
    postgres,
    dynamodb,
    sqs,
    mail,
    env: {
      DATABASE_URL: postgres?.url ?? given("DATABASE_URL") ?? "",
      AWS_ENDPOINT_URL_DYNAMODB: dynamodb?.url ?? given("AWS_ENDPOINT_URL_DYNAMODB") ?? anyEndpoint ?? "",
      AWS_ENDPOINT_URL_SQS: sqs?.url ?? given("AWS_ENDPOINT_URL_SQS") ?? anyEndpoint ?? "",
      SMTP_URL: given("SMTP_URL") ?? mail.url,
      AWS_REGION: given("AWS_REGION") ?? "us-east-1",
      AWS_ACCESS_KEY_ID: given("AWS_ACCESS_KEY_ID") ?? "local",
      AWS_SECRET_ACCESS_KEY: given("AWS_SECRET_ACCESS_KEY") ?? "local",
    },
    stop: async () => {
      await Promise.all([sqs?.stop(), dynamodb?.stop(), mail.stop()]);
      await postgres?.stop();
    },
  };
}

/** A start that fails half way leaves nothing running. */
async function allOrNone<T extends readonly PromiseSettledResult<unknown>[]>(
  results: T,
  started: readonly { stop(): Promise<void> }[],
): Promise<{ [K in keyof T]: T[K] extends PromiseSettledResult<infer V> ? V : never }> {
  const failed = results.find((result) => result.status === "rejected");
  if (failed !== undefined) {
    await Promise.allSettled(started.map((part) => part.stop()));
    throw failed.reason;
  }
  return results.map((result) => (result as PromiseFulfilledResult<unknown>).value) as {
    [K in keyof T]: T[K] extends PromiseSettledResult<infer V> ? V : never;
  };
}
