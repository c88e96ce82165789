import { expect, test } from "vitest";
import { claimPlain } from "../../src/postgres/sql/claim.ts";
import { cancelOpen, retryEnded } from "../../src/postgres/sql/control.ts";
import { insertJobs } from "../../src/postgres/sql/insert.ts";
import { settlePlain } from "../../src/postgres/sql/settle.ts";
import type { Store } from "../../src/machine/store.ts";
import { claimOne, insertMany, insertOne, messageFor, running, settleOne } from "../contract/store/fixture.ts";
import { testDatabase } from "../support/database.ts";
import { watchTrips } from "./trips.ts";

/** A mistake in a statement of the store, and what the store does when it runs it. */
interface Bug {
  readonly bug: string;
  readonly of: { readonly text: string };
  readonly from: string;
  readonly to: string;
  readonly run: (store: Store) => Promise<unknown>;
  readonly refusal: RegExp;
}

const noRow = /no event row says so/;
const claimTwo = async (store: Store): Promise<unknown> => {
  const used = await insertOne(store);
  // Another attempt and generation than its neighbour's, so that a wrong place shows.
  await settleOne(store, await claimOne(store, used), { to: "QUEUED", interruptions: 1 });
  const messages = [await messageFor(store, used), await messageFor(store, await insertOne(store))];
  return await store.claim(messages, { worker: "worker-1", alone: true });
};
const failOne = async (store: Store): Promise<unknown> =>
  await settleOne(store, await running(store), { to: "FAILED", failures: 1, errorCode: "X", errorMessage: "x" });

const bugs: readonly Bug[] = [
  {
    bug: "forgets the event in the job",
    of: claimPlain,
    from: "event_id = (select event from drawn), ",
    to: "",
    run: claimTwo,
    refusal: /names no new event/,
  },
  {
    bug: "forgets the event itself",
    of: settlePlain,
    from: "from moves group by event_id",
    to: "from moves where false group by event_id",
    run: failOne,
    refusal: noRow,
  },
  {
    bug: "names the event of another kind of move",
    of: cancelOpen,
    from: "when 'QUEUED' then 2",
    to: "when 'QUEUED' then 1",
    async run(store) {
      const ids = await insertMany(store, [{}, { delayMs: 3_600_000 }]);
      return await store.cancel(ids);
    },
    refusal: noRow,
  },
  {
    bug: "writes the attempts in another order than the jobs",
    of: claimPlain,
    from: "array_agg(id), array_agg(attempt)",
    to: "array_agg(id order by id), array_agg(attempt order by id desc)",
    run: claimTwo,
    refusal: noRow,
  },
  {
    bug: "writes the generations in another order than the jobs",
    of: claimPlain,
    from: "array_agg(id), array_agg(attempt), array_agg(generation)",
    to: "array_agg(id order by id), array_agg(attempt order by id), array_agg(generation order by id desc)",
    run: claimTwo,
    refusal: noRow,
  },
  {
    bug: "leaves a job out of the event",
    of: insertJobs,
    from: "from inserted group by event_id",
    to: "from inserted where id <> (select min(id) from inserted) group by event_id",
    run: (store) => insertMany(store, [{}, {}]),
    refusal: noRow,
  },
  {
    bug: "writes another state than the job has",
    of: settlePlain,
    from: "case when passes then 'RETRY_WAIT' else state end as to_state",
    to: "'SUCCESS'::belfry.job_state as to_state",
    run: failOne,
    refusal: noRow,
  },
  {
    bug: "makes a job QUEUED without a message",
    of: retryEnded,
    from: "from moves where to_state = 'QUEUED' group by lane",
    to: "from moves where to_state = 'PENDING' group by lane",
    async run(store) {
      const id = await insertOne(store);
      await store.cancel([id]);
      return await store.retry([id]);
    },
    refusal: /no outbox batch has its message/,
  },
];

test.each(bugs)(
  "the check of every test database finds a statement that $bug",
  async ({ of, from, to, run, refusal }) => {
    expect(of.text).toContain(from);
    await expect(withText((text) => text, run)).resolves.toBeDefined();
    const wrong = of.text.replace(from, to);
    await expect(withText((text) => (text === of.text ? wrong : text), run)).rejects.toThrow(refusal);
  },
);

async function withText(change: (text: string) => string, run: Bug["run"]): Promise<unknown> {
  const db = await testDatabase({ own: true });
  watchTrips(db, change);
  return await run(db.store);
}
