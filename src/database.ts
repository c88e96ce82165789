import { readFileSync } from "node:fs";
import type { ClientConfig } from "pg";
import { databasePassword } from "./adapters/aws/database-password.ts";
import { parseAddress } from "./adapters/postgres/address.ts";
import { readSettings } from "./settings.ts";

/**
 * For an app's own connections beside Belfry's: the database of this process, as its environment names it. On AWS there is
 * no password in `DATABASE_URL`; a token or secret is fetched at each new connection, and the server's certificate is
 * verified. @throws ProblemsFound with every wrong setting at once.
 */
export function databaseConnection(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): ClientConfig {
  const config = readSettings(environment);
  const password = databasePassword({ ...config, auth: config.databaseAuth, region: config.aws.region });
  const { databaseCaFile: file } = config;
  return {
    ...parseAddress(config.databaseUrl),
    connectionTimeoutMillis: connectMsMax,
    ...(password === null ? {} : { password }),
    ...(file === null ? {} : { ssl: { ca: readFileSync(file, "utf8"), rejectUnauthorized: true } }),
  };
}

const connectMsMax = 5_000;
