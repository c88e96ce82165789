import type { Tx } from "belfry";
import { databasePool } from "belfry/connect";

const subscribed = "select id::text as id from daily_quiz.app_user where notify and id = any($1::bigint[])";

interface Question {
  readonly id: string;
  readonly answer: (isSubscribed: boolean) => void;
  readonly fail: (error: unknown) => void;
}

const connected = databasePool({ poolSize: 1 });
let open: Question[] = [];

/** Asked for each target right before its call. Questions of one batch come together and are one query. */
export function isStillSubscribed(id: string): Promise<boolean> {
  return new Promise((answer, fail) => {
    if (open.length === 0) queueMicrotask(() => void ask(open.splice(0)));
    open.push({ id, answer, fail });
  });
}

async function ask(questions: readonly Question[]): Promise<void> {
  try {
    const { rows } = await connected().query<{ id: string }>(subscribed, [questions.map(({ id }) => id)]);
    const wanted = new Set(rows.map(({ id }) => id));
    for (const { id, answer } of questions) answer(wanted.has(id));
  } catch (error) {
    for (const { fail } of questions) fail(error);
  }
}

// One writer at a time, so that two do not take one number.
const lock = "select pg_advisory_xact_lock(hashtext('daily_quiz.subscribe'))";
const add = `
  insert into daily_quiz.app_user (id, zone, notify)
  select greatest(coalesce(max(id), 0), 1000000) + 1, $1, true from daily_quiz.app_user
  returning id::text`;

/** A new user, numbered behind those of the seed. */
export async function subscribe(tx: Tx, zone: string): Promise<{ id: string }> {
  await tx.query(lock, []);
  const [user] = (await tx.query(add, [zone])).rows as unknown as { id: string }[];
  if (user === undefined) throw new Error(`no user was added in ${zone}`);
  return user;
}
