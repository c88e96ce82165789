import { connections } from "../pool.ts";

const subscribed = "select id::text as id from daily_quiz.app_user where notify and id = any($1::bigint[])";

interface Question {
  readonly id: string;
  readonly answer: (isSubscribed: boolean) => void;
  readonly fail: (error: unknown) => void;
}

const connected = connections(1);
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
