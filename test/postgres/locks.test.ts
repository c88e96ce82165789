import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { keptPlanSettings } from "../../src/postgres/statement.ts";
import { testDatabase } from "../support/database.ts";
import { archiveTour } from "./archive-tour.ts";
import { type Locking, watchLocks } from "./lock-watch.ts";
import { operationsTour } from "./operations-tour.ts";
import { tour } from "./tour.ts";

/** The tour brings these no row to lock, so what they do at a held one is not seen: a list that should only shrink. */
const withoutRows: readonly string[] = [
  "bulk-judge 1: skip locked",
  "bulk-take 1: skip locked",
  "claim-full 3: skip locked",
  "heartbeat 2: skip locked",
  "lane-unhold 1: skip locked",
  "lane-unhold-open 1: skip locked",
  "leave-jobs 1: skip locked",
  "leave-occurrences 1: skip locked",
  "leave-runs 1: skip locked",
  "leave-runs 2: skip locked",
  "prune-counts 1: skip locked",
  "prune-counts 2: skip locked",
  "prune-counts 3: skip locked",
  "prune-jobs 1: skip locked",
  "prune-occurrences 1: skip locked",
  "prune-past 1: skip locked",
  "prune-past 2: skip locked",
  "prune-past 3: skip locked",
  "prune-quarantine 1: skip locked",
  "prune-runs 1: skip locked",
  "requeue-empty 1: skip locked",
  "requeue-overtaken 1: skip locked",
  "resolve-ends 1: skip locked",
  "roll-up-lock 1: skip locked",
  "run-free-slots 1: skip locked",
  "run-seal-orphans 2: skip locked",
  "slots-forget 1: skip locked",
  "slots-retire 1: skip locked",
];

test(
  "each statement locks, waits and passes by as its line in locks.txt says, and shows when a lock clause is left out",
  { timeout: 300_000 },
  async () => {
    const db = await testDatabase({ own: true, connections: 1, prepare: false });
    const open = async (): Promise<Client> => {
      const client = new Client({ connectionString: db.url, options: keptPlanSettings });
      await client.connect();
      onTestFinished(() => client.end());
      return client;
    };
    const sessions = { holder: await open(), runner: await open(), looker: await open() };
    const seen = watchLocks(db, sessions);
    await tour(db.store, db.clock, "locks");
    await operationsTour(db.connections);
    await archiveTour(db.connections);
    const lines = [...seen].filter(([, { reads, at }]) => reads > 0 || at.size > 0).map(line);
    expect(lines.length).toBeGreaterThan(30);
    const unseen = [...seen].flatMap(([name, { faults }]) =>
      [...faults].filter(([, isSeen]) => !isSeen).map(([clause]) => `${name} ${clause}`),
    );
    expect(unseen.toSorted()).toEqual(withoutRows);
    await expect(`${lines.toSorted().join("\n")}\n`).toMatchFileSnapshot("./locks.txt");
  },
);

const line = ([name, { reads, at }]: readonly [string, Locking]): string =>
  `${name}: ${reads} locking reads; ${[...at]
    .map(([table, conduct]) => `${table} ${conduct}`)
    .toSorted()
    .join(", ")}`;
