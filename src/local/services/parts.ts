import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startDynamodb } from "./dynamodb.ts";
import { type MailSink, startMailSink } from "./mail.ts";
import { keepPostgres, type KeptPostgres } from "./kept-postgres.ts";
import type { LocalServer } from "./server.ts";
import { startSqs } from "./sqs.ts";
import { sealKey } from "../../stage/config-schema.ts";

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

/** Of one developer's jobs; the system's file cache holds what these buffers do not. */
const small = { shared_buffers: "8MB", max_logical_replication_workers: "0" };
const absent = Promise.resolve(null);

type Environment = Readonly<Record<string, string | undefined>>;

export async function startParts(options: {
  home: string;
  environment: Environment;
  postgresSettings: Readonly<Record<string, string>>;
  /** A service died and is started again. */
  onDied: (error: unknown) => void;
  /** The key of the sealed payloads is a new one, though there are rows. */
  onKeyLost: (loss: string) => void;
}): Promise<Parts> {
  const { home, environment } = options;
  const given = (name: string): string | null => environment[name] || null;
  const seals = given("BELFRY_SEALS") ?? JSON.stringify({ "*": keepSealKey(home, options.onKeyLost) });
  const dynamodbUrl = given("AWS_ENDPOINT_URL_DYNAMODB") ?? given("AWS_ENDPOINT_URL");
  const sqsUrl = given("AWS_ENDPOINT_URL_SQS") ?? given("AWS_ENDPOINT_URL");
  const database = { folder: join(home, "postgres"), port: 0, settings: { ...small, ...options.postgresSettings } };
  const starting = [
    given("DATABASE_URL") === null ? keepPostgres(database, options.onDied) : absent,
    dynamodbUrl === null ? startDynamodb({ folder: join(home, "dynamodb") }) : absent,
    sqsUrl === null ? startSqs() : absent,
    startMailSink({ folder: join(home, "mail") }),
  ] as const;
  const settled = await Promise.allSettled(starting);
  // A start that fails half way leaves nothing running.
  if (settled.some(({ status }) => status === "rejected"))
    await Promise.allSettled(settled.map(async (one) => (one.status === "fulfilled" ? one.value?.stop() : undefined)));
  const [postgres, dynamodb, sqs, mail] = await Promise.all(starting);
  return {
    postgres,
    dynamodb,
    sqs,
    mail,
    env: {
      DATABASE_URL: postgres?.url ?? given("DATABASE_URL") ?? "",
      AWS_ENDPOINT_URL_DYNAMODB: dynamodb?.url ?? dynamodbUrl ?? "",
      AWS_ENDPOINT_URL_SQS: sqs?.url ?? sqsUrl ?? "",
      BELFRY_SEALS: seals,
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

/**
 * For every name that jobs seal with. It lasts as long as the rows that it seals.
 * @throws when the file holds no key: a new one in its place would lose what is sealed.
 */
export function keepSealKey(home: string, onLost: (loss: string) => void): string {
  const file = join(home, "seal-key");
  if (!existsSync(file)) {
    if (existsSync(join(home, "postgres"))) onLost(`what older jobs sealed opens only with the old ${file}`);
    writeFileSync(file, `local:${randomBytes(32).toString("base64")}`, { mode: 0o600 });
  }
  const key = readFileSync(file, "utf8").trim();
  if (sealKey.test(key)) return key;
  throw new Error(
    `${file} holds no key, which is "local:" and 32 bytes in base64: put the file back, or delete it for a new key, which cannot open what is sealed`,
  );
}
