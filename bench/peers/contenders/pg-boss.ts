import { type Contender, contenderApplication, type Setting } from "../contender.ts";
import { load } from "../installed.ts";

/** The part of its interface that is used: the package is not a dependency of the project. */
interface Module {
  readonly PgBoss: new (options: object) => Boss;
}
interface Boss {
  on(event: "error", tell: (error: Error) => void): void;
  start(): Promise<unknown>;
  stop(options: object): Promise<void>;
  createQueue(name: string, options: object): Promise<void>;
  send(name: string, data: object): Promise<string | null>;
  insert(name: string, jobs: readonly object[]): Promise<unknown>;
  work(
    name: string,
    options: object,
    handler: (jobs: readonly { data: { n: number } }[]) => Promise<void>,
  ): Promise<string>;
  offWork(name: string, options: object): Promise<void>;
}

const queue = "noop";

/**
 * As its documents advise for speed: fetches of 1,000 on two workers, the next at once after a full one, NOTIFY for the first.
 * Its supervisor and scheduler are off, as the scheduler of Belfry is.
 */
export async function pgBoss({ url, peers }: Setting): Promise<Contender> {
  const { PgBoss } = await load<Module>(peers, "pg-boss");
  const off = { schedule: false, registerInstance: false, supervise: false };
  const connection = { connectionString: url, application_name: contenderApplication, max: 10, idleTimeoutMillis: 0 };
  const boss = new PgBoss({ ...connection, ...off, useListenNotify: true });
  boss.on("error", (error) => process.stderr.write(`pg-boss: ${error.message}\n`));
  await boss.start();
  await boss.createQueue(queue, { notify: true });
  return {
    async insert(numbers) {
      if (numbers.length === 1) await boss.send(queue, { n: numbers[0] });
      else
        await boss.insert(
          queue,
          numbers.map((n) => ({ data: { n } })),
        );
    },
    async work(onStart) {
      await boss.work(queue, { batchSize: 1_000, localConcurrency: 2, burstWhenBatchFull: true }, async (jobs) => {
        for (const { data } of jobs) onStart(data.n);
      });
    },
    rest: () => boss.offWork(queue, { wait: true }),
    forget() {},
    close: () => boss.stop({ graceful: false, close: true }),
  };
}
