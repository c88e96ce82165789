import type { Tx } from "../machine/transaction.ts";
import { describeSchema, hideSchemas } from "./sql/schema.ts";
import { execute } from "./statement.ts";

/**
 * The tables, types and functions of a migrated database as text: the same for every database at the same version, whatever
 * the user's search path. Needs a client, not a pool: it opens a transaction.
 */
export async function dumpSchema(client: Tx): Promise<string> {
  await client.query("begin read only");
  try {
    await execute(client, hideSchemas);
    const rows = await execute(client, describeSchema);
    return `${rows.map((row) => row.line).join("\n")}\n`;
  } finally {
    await client.query("rollback");
  }
}
