import { readFileSync } from "node:fs";
import { Pool } from "pg";
import { databasePassword } from "../aws/database-password.ts";
import { parseAddress } from "../postgres/address.ts";
import { type Duration, durationMs } from "../calendar/duration.ts";
import type { DatabasePool } from "../machine/transaction.ts";
import { readSettings, type Settings } from "../stage/settings.ts";

/** Where the database of a process is and who comes: what `new Pool()` of `pg` takes, and other drivers under the same names. */
export interface DatabaseConnection {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user?: string;
  /** A function is asked at each new connection: a token of IAM ends, and a secret may be rotated. */
  readonly password?: string | (() => Promise<string>);
  readonly ssl?: boolean | { readonly ca: string; readonly rejectUnauthorized: boolean };
  readonly connectionTimeoutMillis: number;
}

/**
 * For an app's own connections beside Belfry's: the database of this process, as its environment names it. On AWS there is
 * no password in `DATABASE_URL`; a token or secret is fetched at each new connection, and the server's certificate is
 * verified. @throws DefinitionProblems with every wrong setting at once.
 */
export function databaseConnection(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): DatabaseConnection {
  const { url, ca, ...access } = databaseAccess(readSettings(environment));
  return {
    ...parseAddress(url),
    connectionTimeoutMillis: connectMsMax,
    ...access,
    ...(ca === undefined ? {} : { ssl: { ca, rejectUnauthorized: true } }),
  };
}

/** How the database that the settings name is reached: where `password` or `ca` is absent, its URL says them. */
export function databaseAccess(
  settings: Pick<Settings, "databaseUrl" | "databaseAuth" | "databaseCaFile" | "secretsEndpoint" | "aws">,
) {
  const { databaseUrl: url, databaseAuth: auth, databaseCaFile: file } = settings;
  const password = databasePassword({ ...settings, ...settings.aws, auth });
  return {
    url,
    ...(password === null ? {} : { password }),
    ...(file === null ? {} : { ca: readFileSync(file, "utf8") }),
  };
}

const connectMsMax = 5_000;

export interface DatabasePoolOptions {
  /** Connections. Default 2. */
  readonly poolSize?: number;
  /** After which a query fails. Default `10s`. */
  readonly queryTimeout?: Duration;
}

/**
 * For queries outside of `ctx.tx`: the connections of `databaseConnection`, opened with the first query, so that importing
 * a definition opens nothing. Under `createTestSystem` it leads to the database of the test.
 */
export function databasePool({ poolSize = 2, queryTimeout = "10s" }: DatabasePoolOptions = {}): () => DatabasePool {
  let pool: Pool | null = null;
  let url: string | undefined;
  return () => {
    if (pool !== null && url === process.env["DATABASE_URL"]) return pool;
    url = process.env["DATABASE_URL"];
    const timeoutMs = durationMs("queryTimeout", queryTimeout);
    pool = new Pool({ ...databaseConnection(), max: poolSize, query_timeout: timeoutMs, allowExitOnIdle: true });
    // An idle connection that breaks would end the process; the next query opens another one.
    pool.on("error", () => undefined);
    return pool;
  };
}
