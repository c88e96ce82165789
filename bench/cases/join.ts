import type { Claimed, Store } from "../../src/machine/store.ts";
import type { Message } from "../../src/machine/outbox.ts";
import type { Queue } from "../../src/machine/ports.ts";
import { afterCommit } from "../../src/run/after-commit.ts";
import type { Database, Ground } from "../ground.ts";
import { compared, type Figure, inTurns, measured, perSecond } from "../measure.ts";
import { noQueue, pagesOf, portsWith, shared } from "../ports.ts";
import { rawComplete } from "../raw-cas.ts";
import { claimant, emptyRuns, loadRunning, startedRun, successOf } from "../run-rows.ts";

const width = 10_000;
const batch = 250;
const connections = 4;

/** 10,000 predecessors of one join end on four connections, and only those four release it. */
export async function join(ground: Ground): Promise<readonly Figure[]> {
  return [...(await joins(ground, "join", [])), ...(await joins(ground, "join, commits 2 ms slower", slowCommits))];
}

/** Each commit waits 2 ms before it is flushed, however many others are under way. */
const slowCommits = ["commit_delay = 2000", "commit_siblings = 0"];

async function joins(ground: Ground, name: string, settings: readonly string[]): Promise<readonly Figure[]> {
  const database = await ground.database({ settings });
  const stores = Array.from({ length: connections }, () => database.store(1));
  const releasedMs: number[] = [];
  let round = 0;
  const pairs = await inTurns({
    async product() {
      await emptyRuns(database.pool);
      round += 1;
      const held = await startedRun(
        { store: stores[0] ?? database.store(1), pool: database.pool },
        { key: `join-${round}`, width },
      );
      let waitedMs = Number.NaN;
      const rate = await perSecond(width, async () => {
        waitedMs = await endAll(stores, held.running, held.joinId);
      });
      releasedMs.push(waitedMs);
      return rate;
    },
    roof: async () => {
      await emptyRuns(database.pool);
      return markAll(database, await loadRunning(database.pool, width));
    },
  });
  return [
    compared(`${name}: predecessors ended`, "jobs/s", pairs, { valueMin: 10_000 }),
    measured(`${name}: last commit -> successor QUEUED`, "ms", releasedMs.slice(1), { valueMax: 1_000 }),
  ];
}

/** What workers do with jobs that end: settle, hand off, bring their runs forward. @returns how long the join took after. */
async function endAll(stores: readonly Store[], running: readonly Claimed[], joinId: string): Promise<number> {
  let settledMs = 0;
  let queuedMs = Number.NaN;
  const queue: Queue = {
    ...noQueue,
    async send(_lane, messages) {
      if (messages.some((message) => message.jobId === joinId)) queuedMs = performance.now();
      return { failed: [] };
    },
  };
  const ports = stores.map((store) => portsWith(store, queue));
  await shared(pagesOf(running, batch), stores.length, async (page, loop) => {
    const mine = ports[loop] ?? portsWith(stores[0] as Store, queue);
    const settled = await mine.store.settle(page.map(successOf), { worker: claimant });
    if (settled.settled.length !== page.length) throw new Error("a settle was refused");
    settledMs = performance.now();
    await afterCommit(mine, settled.aftermath);
  });
  if (Number.isNaN(queuedMs)) throw new Error("the join was not released by those who ended its predecessors");
  return Math.max(0, queuedMs - settledMs);
}

async function markAll(database: Database, running: readonly Message[]): Promise<number> {
  const clients = await Promise.all(Array.from({ length: connections }, () => database.pool.connect()));
  try {
    return await perSecond(width, () =>
      shared(pagesOf(running, batch), clients.length, async (page, loop) => {
        const client = clients[loop];
        if (client !== undefined)
          await rawComplete(
            client,
            page.map((message) => message.jobId),
            page.map(() => 1),
          );
      }),
    );
  } finally {
    for (const client of clients) client.release();
  }
}
