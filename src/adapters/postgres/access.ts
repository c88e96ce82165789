import { Client } from "pg";
import { unavailable } from "./failure.ts";
import { createRoles, grantRows } from "./sql/access.ts";
import { withPassword } from "./with-password.ts";
import { execute } from "./statement.ts";

export interface AccessOptions {
  readonly url: string;
  readonly ca?: string;
  readonly password?: () => Promise<string>;
}

/** What processes connect as: it reads and writes rows, and owns nothing. */
export const applicationRole = "belfry_app";

/**
 * Makes the roles of the migration and of the processes, on a server where IAM proves users (the role `rds_iam` exists).
 * Safe to repeat. @throws Error when the server does not answer or the user may not make roles.
 */
export const createDatabaseRoles = (administrator: AccessOptions): Promise<void> =>
  connected(administrator, (client) => execute(client, createRoles));

/**
 * Lets a role read and write the rows of every table that this user owns, Belfry's and the apps'. Safe to repeat, and
 * needed after each migration. @throws Error when the server does not answer or there is no such role.
 */
export const grantOwnRows = (owner: AccessOptions, role: string): Promise<void> =>
  connected(owner, (client) => execute(client, grantRows, [role]));

async function connected(
  { url, ca, password }: AccessOptions,
  work: (client: Client) => Promise<unknown>,
): Promise<void> {
  const client = new Client({
    connectionString: await withPassword(url, password),
    application_name: "belfry access",
    ...(ca === undefined ? {} : { ssl: { ca, rejectUnauthorized: true } }),
  });
  client.on("error", () => {});
  await client.connect().catch((error: unknown) => {
    throw unavailable(error, `${client.host}:${client.port}/${client.database ?? ""}`);
  });
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
