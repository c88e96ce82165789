import { Pool } from "pg";

const subscribed = "select id::text as id from daily_quiz.app_user where notify and id = any($1::bigint[])";

interface Question {
  readonly id: string;
  readonly answer: (isSubscribed: boolean) => void;
  readonly fail: (error: unknown) => void;
}

let pool: Pool | null = null;
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

function connected(): Pool {
  if (pool !== null) return pool;
  const opened = new Pool({
    connectionString: process.env["DATABASE_URL"],
    max: 1,
    connectionTimeoutMillis: 5_000,
    query_timeout: 10_000,
    allowExitOnIdle: true,
  });
  // An idle connection that breaks would end the process; the next query opens another one.
  opened.on("error", () => undefined);
  pool = opened;
  return opened;
}
