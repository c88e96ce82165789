import { setTimeout as wait } from "node:timers/promises";
import { type PostgresOptions, type RunningPostgres, startPostgres, type StopMode } from "./postgres.ts";

/** A server that is started again, on its port, whenever it dies without `stop`. */
export interface KeptPostgres {
  readonly url: string;
  readonly dataFolder: string;
  /** Of the server that runs now. */
  readonly pid: number;
  stop(mode?: StopMode): Promise<void>;
  /** kill -9, as a crash would; it comes back by itself. */
  kill(): void;
}

const restartMs = 200;
const restartsMax = 50;

export async function keepPostgres(options: PostgresOptions, onDied: (error: unknown) => void): Promise<KeptPostgres> {
  let current = await startPostgres(options);
  const { url, dataFolder, port } = current;
  let isOver = false;
  const keep = async (): Promise<void> => {
    for (;;) {
      await current.exited;
      if (isOver) return;
      onDied(new Error(`Postgres (pid ${current.pid}) ended and is started again`));
      const next = await again({ ...options, port }, () => isOver);
      if (next === null) return;
      current = next;
      if (isOver) return;
    }
  };
  const kept = keep().catch(onDied);
  return {
    url,
    dataFolder,
    get pid() {
      return current.pid;
    },
    kill: () => current.kill(),
    async stop(mode) {
      isOver = true;
      await current.stop(mode);
      await kept;
      // A restart may have been under way; only this call stops it.
      await current.stop(mode);
    },
  };
}

/** The children of a killed server hold on to its memory for a moment, and a start in that moment is refused. */
async function again(options: PostgresOptions, isOver: () => boolean): Promise<RunningPostgres | null> {
  for (let tries = 1; !isOver(); tries++) {
    await wait(restartMs);
    try {
      return await startPostgres(options);
    } catch (error) {
      if (tries >= restartsMax) throw error;
    }
  }
  return null;
}
