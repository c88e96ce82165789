/** Ids are numbers that travel as text, and statements find a job's values by its place in a sorted list of them. */
import { expect, test } from "vitest";
import { insertMany, messageFor, settlementOf, settleOptions, show } from "../contract/store/fixture.ts";
import { testDatabase } from "../support/database.ts";

test.each([99])("each job around the id %i, some with a digit more, has its own generation and result", async (id) => {
  const { store, pool } = await testDatabase({ own: true });
  await pool.query("select setval('belfry.job_id_seq', $1, false)", [id - 2]);
  const ids = await insertMany(store, [{}, {}, {}, {}, {}, {}]);
  expect(ids).toContain(String(id + 1));
  const again = ids.filter((_, n) => n % 2 === 0);
  await store.cancel(again);
  await store.retry(again);
  const messages = await Promise.all(ids.map((each) => messageFor(store, each)));
  expect(messages.map(({ generation }) => generation)).toEqual([2, 1, 2, 1, 2, 1]);
  const { claimed } = await store.claim(messages.toReversed(), { worker: "worker-1", alone: false });
  expect(claimed.map(({ jobId }) => jobId)).toEqual(ids);
  const settlements = claimed.toReversed().map((job) => settlementOf(job, { result: `of ${job.jobId}` }));
  expect((await store.settle(settlements, settleOptions)).settled).toHaveLength(6);
  const results = await Promise.all(ids.map(async (each) => (await show(store, each)).job.result));
  expect(results).toEqual(ids.map((each) => `of ${each}`));
});
