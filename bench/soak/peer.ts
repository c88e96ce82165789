import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Ground } from "../ground.ts";
import type { Contender, Setting } from "../peers/contender.ts";
import { graphileWorker } from "../peers/contenders/graphile-worker.ts";
import { pgBoss } from "../peers/contenders/pg-boss.ts";
import { installedPeers } from "../peers/installed.ts";
import { load } from "../peers/load.ts";
import { account, type Asked, ended, markOf } from "../peers/ring.ts";
import { tablesOf } from "../peers/tables.ts";
import { type ClientClass, clockQueries, type Statements } from "./clock.ts";
import { type HotTables, layByWork, type Load, type Mark, marksOf, type Plan, type Times } from "./marks.ts";
import { batch, perCall, workers } from "./soak.ts";

export const soakedPeers = ["pg-boss", "graphile-worker"] as const;
export type SoakedPeer = (typeof soakedPeers)[number];

/** The least its retention can be set to: ours is a millisecond. */
const retentionSeconds = 1;
/** Between two looks of its supervisor at what is past its retention. Its own is a day: nothing would leave. */
const supervisedSeconds = 10;
/** A job that has not started by then is lost. */
const startMsMax = 60_000;

interface Recipe {
  readonly statements: Statements;
  readonly hot: HotTables;
  readonly keepsExactly: boolean;
  open(setting: Setting): Promise<Contender>;
  /** Of the `pg` that it connects with. */
  client(folder: string): Promise<ClientClass>;
  lay(pool: pg.Pool, rows: number, work: Work, tell: (text: string) => void): Promise<void>;
}

type Work = (count: number) => Promise<void>;

const recipes: Readonly<Record<SoakedPeer, Recipe>> = {
  "graphile-worker": {
    statements: { claim: /^with j_raw as/, settle: /^delete from .*_private_jobs/ },
    hot: {
      schema: "graphile_worker",
      names: ["_private_jobs"],
      job: "_private_jobs",
      // One more came with the name of the task.
      kept: "select count(*)::int - 1 from graphile_worker._private_jobs",
    },
    keepsExactly: true,
    open: (setting) => graphileWorker(setting, { pools: workers }),
    client: async () => pg.Client,
    // What is done has no row there: only the future can lie around.
    lay: (pool, rows) => tablesOf["graphile-worker"].crowd(pool, rows),
  },
  "pg-boss": {
    statements: { claim: /FOR UPDATE OF j SKIP LOCKED/, settle: /SET completed_on = .*state = 'completed'/s },
    hot: {
      schema: "pgboss",
      names: ["job_common", "queue"],
      job: "job_common",
      kept: "select count(*)::int from pgboss.job where state = 'completed'",
    },
    keepsExactly: false,
    open: (setting) =>
      pgBoss(setting, {
        batchSize: batch,
        supervisor: {
          supervise: true,
          superviseIntervalSeconds: supervisedSeconds,
          maintenanceIntervalSeconds: supervisedSeconds,
        },
      }),
    client: async (folder) => (await load<{ default: { Client: ClientClass } }>(folder, "pg")).default.Client,
    // A row keeps the retention that its queue had at the insert: those before have the queue's own seven days.
    async lay(pool, rows, work, tell) {
      await layByWork(rows, work, tell);
      await pool.query("update pgboss.queue set deletion_seconds = $1", [retentionSeconds]);
    },
  },
};

/**
 * The soak's load on another system: as many jobs in a call, two workers that hold 500 each, and the next 5,000 when all outcomes
 * are written. It keeps rows as it does by itself.
 * @throws Error when a job is lost.
 */
export async function soakOfPeer(
  ground: Pick<Ground, "database">,
  { peer, ...plan }: Plan & { readonly peer: SoakedPeer },
  tell: (text: string) => void,
): Promise<readonly Mark[]> {
  const { hot, keepsExactly, ...recipe } = recipes[peer];
  const folder = installedPeers();
  const { url, pool } = await ground.database();
  const times: Times = { claim: [], settle: [] };
  clockQueries(await recipe.client(folder), recipe.statements, times);
  const contender = await recipe.open({ name: peer, url, peers: folder, sqs: null });
  const work = await workBy(contender, { name: peer, pool, tables: tablesOf[peer] });
  const under: Load = {
    pool,
    hot,
    times,
    keepsExactly,
    lay: (rows) => recipe.lay(pool, rows, work, tell),
    turn: work,
  };
  const marks = await marksOf(under, plan, tell);
  await contender.rest();
  await contender.close();
  return marks;
}

/** Starts the workers. @returns what enqueues jobs and resolves when their outcomes are written. */
export async function workBy(contender: Pick<Contender, "insert" | "work">, asked: Asked): Promise<Work> {
  let [first, starts] = [0, 0];
  let distinct = new Set<number>();
  let onStart = (): void => {};
  await contender.work((n) => {
    starts += 1;
    distinct.add(n);
    onStart();
  });
  return async (count) => {
    const mark = await markOf(asked);
    [distinct, starts] = [new Set<number>(), 0];
    const allStarted = new Promise<void>((resolve) => {
      onStart = () => void (distinct.size === count && resolve());
    });
    for (let sent = 0; sent < count; sent += perCall) {
      const numbers = Array.from({ length: Math.min(perCall, count - sent) }, (_, at) => first + sent + at);
      await contender.insert(numbers);
    }
    const over = new AbortController();
    await Promise.race([allStarted, sleep(startMsMax, undefined, { signal: over.signal })]);
    over.abort();
    await ended(asked, mark);
    account(asked.name, { jobs: count, started: distinct.size, starts, done: null });
    first += count;
  };
}
