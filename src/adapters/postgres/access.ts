import { Client } from "pg";
import { unavailable } from "./failure.ts";
import { createApplicationRole } from "./sql/access.ts";
import { withPassword } from "./with-password.ts";
import { execute } from "./statement.ts";

export interface AdministratorOptions {
  readonly url: string;
  readonly ca?: string;
  readonly password?: () => Promise<string>;
}

/**
 * Makes the role `belfry_app` that processes use, on a server where IAM proves users (the role `rds_iam` exists). Safe to
 * repeat. @throws Error when the server does not answer or the user may not make roles.
 */
export async function createApplicationUser({ url, ca, password }: AdministratorOptions): Promise<void> {
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
    await execute(client, createApplicationRole);
  } finally {
    await client.end();
  }
}
