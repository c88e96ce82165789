import { databasePool } from "belfry/connect";
import type { Tx } from "belfry";
import { neverSubscribed, usersDefault, zoneOf } from "./input.ts";

const users = `
  insert into daily_quiz.app_user (id, zone, notify)
  select * from unnest($1::bigint[], $2::text[], $3::boolean[])
  on conflict (id) do nothing`;

/** Safe to run again. */
export async function seed(client: Tx, count: number): Promise<void> {
  const ids = Array.from({ length: count }, (_, index) => index + 1);
  await client.query(users, [ids, ids.map(zoneOf), ids.map((id) => !neverSubscribed(id))]);
}

if (import.meta.main) await seed(databasePool()(), Number(process.env["QUIZ_USERS"] ?? usersDefault));
