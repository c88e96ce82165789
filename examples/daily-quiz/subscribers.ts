import type { Tx } from "belfry";
import { databasePool } from "belfry/connect";
import type { zones } from "./quiz.ts";

const connected = databasePool();
const subscribed = "select from daily_quiz.app_user where notify and id = $1";
const add = "insert into daily_quiz.app_user (zone) values ($1) returning id::text";

/** Asked for each target right before its call. */
export async function isStillSubscribed(id: string): Promise<boolean> {
  return (await connected().query(subscribed, [id])).rowCount === 1;
}

/** A new user, numbered behind those of the seed. */
export const subscribe = async (tx: Tx, zone: (typeof zones)[number]) =>
  (await tx.query(add, [zone])).rows as { id: string }[];
