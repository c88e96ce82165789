import { Client } from "pg";

/**
 * Lets the database's clock run `scale` times as fast from now on, for a demonstration that shows hours in minutes.
 * It goes on from where it is and never jumps back; a clock that never was compressed is left alone.
 */
export async function compressTime(databaseUrl: string, scale: number): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  client.on("error", () => {});
  await client.connect();
  try {
    if (scale === 1 && !(await isCompressed(client))) return;
    const { rows } = await client.query<{ here: string; there: string }>(
      "select statement_timestamp()::text as here, belfry.now()::text as there",
    );
    const [at] = rows;
    if (at === undefined) throw new Error("the database does not tell the time");
    // The body of a function takes no parameters. All three are written by us: two timestamps and a number.
    await client.query(
      `create or replace function belfry.now() returns timestamptz language sql stable parallel safe
         return timestamptz '${at.there}' + (statement_timestamp() - timestamptz '${at.here}') * ${scale}`,
    );
  } finally {
    await client.end();
  }
}

async function isCompressed(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ ahead: boolean }>("select belfry.now() <> statement_timestamp() as ahead");
  return rows[0]?.ahead ?? false;
}
