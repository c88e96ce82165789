import { setTimeout as wait } from "node:timers/promises";
import { FolderGone } from "../home.ts";
import { type PostgresOptions, type RunningPostgres, startPostgres, type StopMode } from "./postgres.ts";

/** A server that is started again, on its port, whenever it dies without `stop`. */
export interface KeptPostgres {
  readonly url: string;
  readonly dataFolder: string;
  /** Of the server that runs now. */
  readonly pid: number;
  /** How often it has died. */
  readonly deaths: number;
  /** Resolves when the server runs: at once, or when the restart under way has succeeded. */
  up(): Promise<void>;
  stop(mode?: StopMode): Promise<void>;
  /** kill -9, as a crash would; it comes back by itself. */
  kill(): void;
}

const restartMs = 200;
const restartMsMax = 2_000;
/** A restart that fails this often in a row has another cause than the children of the killed server. */
const quietRestarts = 20;

export async function keepPostgres(options: PostgresOptions, onDied: (error: unknown) => void): Promise<KeptPostgres> {
  let current = await startPostgres(options);
  const { url, dataFolder, port } = current;
  let isOver = false;
  let deaths = 0;
  let restarted: PromiseWithResolvers<void> | null = null;
  const keep = async (): Promise<void> => {
    for (;;) {
      await current.exited;
      if (isOver) return;
      deaths += 1;
      restarted = Promise.withResolvers();
      onDied(new Error(`Postgres (pid ${current.pid}) ended and is started again`));
      const next = await again({ ...options, port, isKnown: true }, () => isOver, onDied);
      restarted.resolve();
      restarted = null;
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
    get deaths() {
      return deaths;
    },
    async up() {
      await restarted?.promise;
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

/**
 * The children of a killed server hold on to its memory for a moment, and a start in that moment is refused. A full disk may
 * last for hours, so there is no last try; data that is gone does not come back.
 */
async function again(
  options: PostgresOptions,
  isOver: () => boolean,
  onDied: (error: unknown) => void,
): Promise<RunningPostgres | null> {
  for (let tries = 1; !isOver(); tries++) {
    await wait(Math.min(restartMs * tries, restartMsMax));
    try {
      return await startPostgres(options);
    } catch (error) {
      if (error instanceof FolderGone || tries === quietRestarts) onDied(error);
      if (error instanceof FolderGone) return null;
    }
  }
  return null;
}
