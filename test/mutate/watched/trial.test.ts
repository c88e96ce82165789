import { Client, type PoolClient } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../../support/database.ts";
import type { Send } from "../../postgres/effects/watch.ts";
import type { Mutant } from "../mutant.ts";
import { marked, type Numbered } from "./markers.ts";
import { createTrials } from "./trial.ts";

const text = "insert into a (at) select n from generate_series(1, 2) as n where n >= 1 and n < 9 returning id, at";

const change = (number: number, before: string, after: string): Numbered => {
  const start = text.indexOf(before);
  const mutant: Mutant = {
    key: `key-${number}`,
    file: "a.ts",
    place: "a",
    operator: "test",
    line: 1,
    start,
    end: start + before.length,
    before,
    after,
  };
  return { number, mutant };
};

const mutants = [
  change(1, "n < 9", "n < 2"),
  change(2, "n < 9", "n < 8"),
  change(3, "returning id, at", "returning nothing"),
  change(4, "n < 9", "n / 0 < 9"),
];

async function openTrials(): Promise<{
  trials: ReturnType<typeof createTrials>;
  client: Client;
  run(): Promise<void>;
}> {
  const db = await freshDatabase({ own: true });
  const client = new Client({ connectionString: db.url });
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await db.close();
  });
  await client.query(`create schema noted; create table noted.change (line text not null);
    create sequence belfry.a_id; create table a (id bigint not null default nextval('belfry.a_id'), at integer)`);
  const trials = createTrials(new Map(mutants.map((one) => [one.number, one])));
  const send = client.query.bind(client) as Send;
  const sent = marked(text, mutants);
  const run = (): Promise<void> =>
    trials.before("a test", { name: "a", text: sent, values: [], client: client as unknown as PoolClient, send });
  return { trials, client, run };
}

test("a mutant is found when it answers anything else, survives when it does not, and is none when Postgres refuses it", async () => {
  const { trials, run } = await openTrials();
  await run();
  expect(Object.fromEntries(trials.verdicts())).toEqual({
    "key-1": { is: "killed", by: "a test" },
    "key-2": { is: "survived", by: null },
    "key-3": { is: "invalid", by: null },
    "key-4": { is: "killed", by: "a test" },
  });
  expect([...trials.notRepeated]).toEqual([]);
});

test("a statement that is not the same twice is left alone, and named", async () => {
  const { trials, client, run } = await openTrials();
  await client.query("alter table a alter column id set default (random() * 1e9)::bigint");
  await run();
  expect([...trials.notRepeated]).toEqual(["a"]);
  expect(trials.verdicts().size).toBe(0);
});
