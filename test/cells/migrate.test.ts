import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { belfry } from "../cli/harness.ts";
import { blankDatabase } from "../support/database.ts";

test("migrate gives the ids of a cell, and refuses what is no number of one", async () => {
  const { url, close } = await blankDatabase();
  onTestFinished(close);
  const migrated = (cell: string) =>
    belfry(["migrate", "--stage", "prod"], { env: { DATABASE_URL: url, BELFRY_CELL: cell } });
  const wrong = await migrated("64");
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('BELFRY_CELL is "64"; it must be')]);
  expect((await migrated("3")).code).toBe(0);
  const client = new Client({ connectionString: url });
  await client.connect();
  const drawn = await client.query<{ id: string }>(
    "select nextval('belfry.job_id_seq') as id union all select nextval('belfry.job_id_seq') order by id",
  );
  await client.end();
  expect(drawn.rows.map(({ id }) => id)).toEqual(["1000000000003", "1000000000067"]);
  const other = await migrated("4");
  expect([other.code, other.err]).toEqual([1, expect.stringContaining("ids of this database tell cell 3")]);
});
