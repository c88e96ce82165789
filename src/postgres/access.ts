import { Client } from "pg";
import { DatabaseUnavailable, unavailable } from "./failure.ts";
import { createRoles, grantRows, readRoles, setApiConnections } from "./sql/access.ts";
import { withPassword } from "./address.ts";
import { execute } from "./statement.ts";

export interface AccessOptions {
  readonly url: string;
  readonly ca?: string;
  readonly password?: () => Promise<string>;
}

/** What processes connect as: it reads and writes rows, and owns nothing. */
export const applicationRole = "belfry_app";

export interface RoleOptions {
  /** `belfry_owner`, which is enough from the second time on. */
  readonly owner: AccessOptions;
  /** The administrator's possible logins, tried in turn while the server refuses them. */
  readonly administrators: readonly AccessOptions[];
  /** The most connections of the API's role. */
  readonly apiConnections: number;
}

/**
 * Makes the roles of migration, processes and API, on a server with IAM login (the role `rds_iam` exists). The administrator
 * logs in only the first time, and when the API's limit changes. @returns whether it did.
 * @throws Error when the server does not answer, refuses every login, or the administrator may not make roles.
 */
export async function ensureDatabaseRoles({ owner, administrators, apiConnections }: RoleOptions): Promise<boolean> {
  if (await isComplete(owner, apiConnections)) return false;
  let refused: unknown;
  for (const administrator of administrators) {
    try {
      await createDatabaseRoles(administrator, apiConnections);
      return true;
    } catch (error) {
      if (!isRefusedLogin(error)) throw error;
      refused = error;
    }
  }
  throw refused;
}

async function isComplete(owner: AccessOptions, apiConnections: number): Promise<boolean> {
  try {
    const [roles] = await onConnection(owner, (client) => execute(client, readRoles, [apiConnections]));
    return roles?.complete === true;
  } catch (error) {
    if (isRefusedLogin(error)) return false;
    throw error;
  }
}

/** SQLSTATE class 28: the role does not exist yet, or may not log in this way. */
const isRefusedLogin = (error: unknown): boolean =>
  error instanceof DatabaseUnavailable &&
  String((error.cause as { code?: unknown } | undefined)?.code).startsWith("28");

/** Safe to repeat. @throws Error when the server does not answer or the user may not make roles. */
const createDatabaseRoles = (administrator: AccessOptions, apiConnections: number): Promise<void> =>
  onConnection(administrator, async (client) => {
    await execute(client, setApiConnections, [apiConnections]);
    await execute(client, createRoles);
  });

/**
 * Lets a role read and write the rows of every table that this user owns, Belfry's and the apps'. Safe to repeat, and
 * needed after each migration. @throws Error when the server does not answer or there is no such role.
 */
export const grantOwnRows = (owner: AccessOptions, role: string): Promise<void> =>
  onConnection(owner, async (client) => void (await execute(client, grantRows, [role])));

/** Does this on a connection of its own. */
export async function onConnection<T>(
  { url, ca, password }: AccessOptions,
  work: (client: Client) => Promise<T>,
  name = "belfry access",
): Promise<T> {
  const client = new Client({
    connectionString: await withPassword(url, password),
    application_name: name,
    ...(ca === undefined ? {} : { ssl: { ca, rejectUnauthorized: true } }),
  });
  client.on("error", () => {});
  await client.connect().catch((error: unknown) => {
    throw unavailable(error, `${client.host}:${client.port}/${client.database ?? ""}`);
  });
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
