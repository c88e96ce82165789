import { createSession } from "../../../src/postgres/session.ts";
import { createTally } from "../../../src/postgres/tally.ts";
import { Pool } from "pg";
import { afterAll, beforeAll } from "vitest";
import { type Connections, openConnections } from "../../../src/postgres/connect.ts";
import { createDatabase } from "../../../src/postgres/database.ts";
import { testStore } from "../../support/looks.ts";
import { testClock } from "../../../src/postgres/test-clock.ts";
import { databaseOf, runOnce } from "../../../src/testing/server.ts";
import { empty } from "../../support/database.ts";
import { migrateTemplate, startThrowawayServer } from "../../support/postgres-server.ts";
import type { World } from "./world.ts";
import { type Effects, noting, shortHash, watchEffects } from "./watch.ts";

type Open = (seen: Effects, options?: { readonly dispatchWindowMs?: number }) => Promise<World>;

/**
 * A server of the file's own: how far the roll-up and the stream read depends on every transaction of the server.
 * @returns what opens a migrated, empty database whose clock stands; `seen` gets what its statements answer and write.
 */
export function watchedServer(): Open {
  const free: Watched[] = [];
  let server: Awaited<ReturnType<typeof startThrowawayServer>> | null = null;
  let made = 0;
  beforeAll(async () => {
    // Statistics that are taken now and then change a plan, and with it which rows a limit takes. To plan each time is half of the CPU.
    server = await startThrowawayServer({ autovacuum: "off", plan_cache_mode: "force_generic_plan" });
    await migrateTemplate(server.url);
  });
  afterAll(async () => {
    for (const { connections, pool } of free) await Promise.all([connections.close(), pool.end()]);
    await server?.stop();
  });
  const create = async (): Promise<Watched> => {
    const url = server?.url ?? "";
    made += 1;
    const name = `effects_${made}`;
    const template = new URL(url).pathname.slice(1);
    await runOnce(databaseOf(url, "postgres"), `create database ${name} template ${template} strategy file_copy`);
    await runOnce(databaseOf(url, name), noting);
    return connect(databaseOf(url, name));
  };
  return async (seen, options) => {
    const watched = free.pop() ?? (await create());
    await watched.pool.query(fresh);
    watched.seen.now = seen;
    const { connections, pool } = watched;
    return {
      url: watched.url,
      pool,
      connections,
      store: testStore(connections, options),
      tally: createTally(createSession(connections.main, connections.where)),
      insight: createDatabase(connections, { checksRows: true }),
      clock: testClock(pool),
      async close() {
        await empty(pool);
        free.push(watched);
      },
    };
  };
}

/** A database and its connections: each test after another. */
interface Watched {
  readonly url: string;
  readonly pool: Pool;
  readonly connections: Connections;
  readonly seen: { now: Effects };
}

function connect(url: string): Watched {
  const pool = new Pool({ connectionString: url, max: 1 });
  const connections = openConnections({
    url,
    applicationName: "effects",
    connections: 1,
    txConnections: 1,
    prepare: false,
  });
  const seen = { now: new Map() };
  watchEffects(connections, seen);
  return { url, pool, connections, seen };
}

/** Time stands still, so that what lies at a bound lies there exactly; a key in place of one drawn at random. Notes stay few pages, which each statement reads. */
const fresh = `
update belfry.test_clock set origin = '2026-02-28T23:00:00Z', shift = interval '0', rate = 0;
delete from belfry.stage_key;
insert into belfry.stage_key (key) values ('drawn');
do $$ begin
  delete from noted.change;
  if pg_relation_size('noted.change') > 65536 then truncate noted.change; end if;
end $$`;

/** A line for each statement: how often it ran, with how many different effects, the least and most of each, a hash of all. */
export function linesOf(seen: Effects): string {
  const lines = [...seen].map(([statement, all]) => {
    const times = [...all.values()].reduce((sum, each) => sum + each, 0);
    const hash = shortHash([...all].map(([effect, each]) => `${effect} ${each}`).toSorted());
    return `${statement}, ${times} x, ${all.size} different: ${[...rangesOf([...all.keys()]), hash].join(", ")}`;
  });
  return `${lines.toSorted().join("\n")}\n`;
}

/** `0-2 answered, 1 event insert`. */
function rangesOf(effects: readonly string[]): readonly string[] {
  const counts = effects.flatMap((effect) => {
    const parts = effect.split(", ").slice(0, -1);
    return parts.map((part) => ({ count: Number.parseInt(part, 10), what: part.slice(part.indexOf(" ") + 1) }));
  });
  const ranges = [...Map.groupBy(counts, ({ what }) => what)].map(([what, those]) => {
    const each = those.map(({ count }) => count);
    const least = those.length === effects.length ? Math.min(...each) : 0;
    const most = Math.max(...each);
    return { what, range: least === most ? `${most}` : `${least}-${most}` };
  });
  return ranges.toSorted((a, b) => (a.what < b.what ? -1 : 1)).map(({ what, range }) => `${range} ${what}`);
}
