import { EventEmitter, once } from "node:events";
import { databaseConnection } from "belfry/connect";
import { Client, type ClientConfig, Pool } from "pg";

/** A notification as clients get it; `id` is the user's own number for it, `relatedId` the capsule. */
export interface News {
  readonly id: string;
  readonly type: string;
  readonly title: string;
  readonly content: string;
  readonly relatedId: string;
  readonly createdAt: string;
}

/** The users' notifications, for the process that holds their streams. */
export interface Inbox {
  readonly pageRows: number;
  /** Behind number `after`, oldest first, one page. */
  read(user: string, after: string): Promise<readonly News[]>;
  /** Resolves when `wake` was called for the user, after `ms`, or when the signal aborts. */
  woken(user: string, ms: number, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

const pageRows = 100;
const relistenMs = 1_000;
const newsOf = `
  select n::text as id, type, title, content, capsule_id::text as "relatedId", created_at as "createdAt"
  from time_capsule.notification where user_id = $1 and n > $2 order by n limit ${pageRows}`;

let made: Inbox | null = null;

/** Made when the first stream asks. */
export function inbox(): Inbox {
  made ??= openInbox(databaseConnection());
  return made;
}

export function openInbox(database: ClientConfig): Inbox {
  const pool = new Pool({ ...database, max: 2, statement_timeout: 5_000, allowExitOnIdle: true });
  // An idle connection that breaks would end the process; the next query opens another one.
  pool.on("error", () => undefined);
  const calls = new EventEmitter().setMaxListeners(0);
  const over = new AbortController();
  listen(database, calls, over.signal);
  return {
    pageRows,
    async read(user, after) {
      const { rows } = await pool.query<News>(newsOf, [user, after]);
      return rows;
    },
    async woken(user, ms, signal) {
      const until = AbortSignal.any([signal, AbortSignal.timeout(ms)]);
      if (!until.aborted) await once(calls, callOf(user), { signal: until }).catch(() => undefined);
    },
    async close() {
      over.abort();
      await pool.end();
    },
  };
}

const callOf = (user: string): string => `user ${user}`;

/** Without this connection streams go on by their own reads. It is opened again when it breaks. */
function listen(database: ClientConfig, calls: EventEmitter, closed: AbortSignal): void {
  const client = new Client({ ...database, keepAlive: true });
  let isOver = false;
  const again = (): void => {
    if (isOver) return;
    isOver = true;
    client.end().catch(() => undefined);
    if (!closed.aborted) setTimeout(() => listen(database, calls, closed), relistenMs).unref();
  };
  closed.addEventListener("abort", again);
  client.on("error", again);
  client.on("end", again);
  client.on("notification", ({ payload }) => calls.emit(callOf(payload ?? "")));
  client
    .connect()
    .then(() => client.query("listen time_capsule"), again)
    .catch(again);
}
