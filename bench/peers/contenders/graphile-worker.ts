import pg from "pg";
import { type Contender, contenderApplication, type Setting } from "../contender.ts";
import { load } from "../installed.ts";

/** The part of its interface that is used: the package is not a dependency of the project. */
interface GraphileWorker {
  readonly Logger: new (factory: () => () => void) => object;
  runMigrations(options: object): Promise<void>;
  runTaskList(
    options: object,
    tasks: object,
    pool: pg.Pool,
  ): { gracefulShutdown(): Promise<void>; promise: Promise<void> };
}

const task = "noop";

/**
 * As its own performance test: 24 at once, a local queue of 500, outcomes in batches without a wait, no log of successes.
 * Bulk goes through the documented SQL function, as there; its client would read each written row back.
 */
export async function graphileWorker({ url, peers }: Setting): Promise<Contender> {
  process.env["NO_LOG_SUCCESS"] = "1";
  const { Logger, runMigrations, runTaskList } = await load<GraphileWorker>(peers, "graphile-worker");
  const pool = new pg.Pool({
    connectionString: url,
    max: 25,
    idleTimeoutMillis: 0,
    application_name: contenderApplication,
  });
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  const logger = new Logger(() => () => {});
  const worker = { concurrentJobs: 24, maxPoolSize: 25, localQueue: { size: 500 } };
  const preset = { worker: { ...worker, completeJobBatchDelay: 0, failJobBatchDelay: 0 } };
  await runMigrations({ pgPool: pool, logger });
  let running: ReturnType<GraphileWorker["runTaskList"]> | null = null;
  return {
    async insert(numbers) {
      if (numbers.length === 1) await pool.query(one, [JSON.stringify({ n: numbers[0] })]);
      else await pool.query(many, [JSON.stringify(numbers.map((n) => ({ identifier: task, payload: { n } })))]);
    },
    async work(onStart) {
      const tasks = { [task]: ({ n }: { n: number }) => onStart(n) };
      running = runTaskList({ preset, logger, noHandleSignals: true }, tasks, pool);
      running.promise.catch(() => {});
    },
    async rest() {
      await running?.gracefulShutdown();
      running = null;
    },
    forget() {},
    close: () => pool.end(),
  };
}

const one = `select 1 from graphile_worker.add_job('${task}', $1::json)`;
const many =
  "select 1 from graphile_worker.add_jobs(array(select json_populate_recordset(null::graphile_worker.job_spec, $1::json)))";
