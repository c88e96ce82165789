/** Writes schema.txt from a database: `DATABASE_URL=... npx node src/adapters/postgres/dump-schema.ts`, which migrates it first. */
import { writeFileSync } from "node:fs";
import { Client } from "pg";
import { migrate } from "./migrate.ts";
import { dumpSchema } from "./schema-dump.ts";

const url = process.env["DATABASE_URL"];
if (url === undefined || url === "") {
  throw new Error("DATABASE_URL is missing: give the address of an empty database, for example of a local Postgres");
}
await migrate({ url });
const client = new Client({ connectionString: url });
await client.connect();
try {
  writeFileSync(new URL("./schema.txt", import.meta.url), await dumpSchema(client));
} finally {
  await client.end();
}
