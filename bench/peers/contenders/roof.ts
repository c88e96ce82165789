import pg from "pg";
import { keptPlanSettings } from "../../../src/postgres/statement.ts";
import type { JobId } from "../../../src/machine/job.ts";
import type { Message } from "../../../src/machine/outbox.ts";
import { rawWork } from "../../raw-cas.ts";
import { type Contender, contenderApplication, type Setting } from "../contender.ts";
import { inProcessQueue } from "../queue.ts";

const connections = 2;
const batch = 500;

/** Bare INSERT, claim and complete on the frozen table of the roofs, and nothing else. */
export async function roof({ url }: Setting): Promise<Contender> {
  const pool = new pg.Pool({
    connectionString: url,
    max: connections + 1,
    idleTimeoutMillis: 0,
    application_name: contenderApplication,
    options: keptPlanSettings,
  });
  const clients = await Promise.all(Array.from({ length: connections }, () => pool.connect()));
  const queue = inProcessQueue<{ readonly n: number; readonly message: Message }>();
  return {
    async insert(numbers) {
      const { rows } = await pool.query<{ id: JobId }>(insert, [numbers]);
      queue.put(rows.map(({ id }, at) => ({ n: numbers[at] ?? 0, message: { jobId: id, generation: 1, trace: "t" } })));
    },
    async work(onStart) {
      queue.work(connections, batch, async (page, loop) => {
        const client = clients[loop];
        if (client === undefined) throw new Error(`there is no connection ${loop}`);
        await rawWork(
          client,
          page.map(({ message }) => message),
        );
        for (const { n } of page) onStart(n);
      });
    },
    rest: () => queue.close(),
    forget: () => queue.forget(),
    async close() {
      for (const client of clients) client.release();
      await pool.end();
    },
  };
}

const insert = `
insert into raw.job (kind, payload, payload_hash, lane, state, due_at, generation, lease_ms, max_attempts, retention_ms, trace, created_at)
select 'noop', jsonb_build_object('n', n), '', 'default', 'QUEUED', now(), 1, 20000, 4, 1, 't', now() from unnest($1::int[]) n
returning id`;
