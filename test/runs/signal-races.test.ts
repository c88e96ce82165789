/** A signal and the release of its task, or a second signal, that meet at the task's row on real connections. */
import { expect, test } from "vitest";
import { settlementOf, settleOptions } from "../contract/store/fixture.ts";
import { aTask, workbench } from "../contract/store/run-fixture.ts";
import { untilWaiting } from "../postgres/race.ts";
import { testDatabase, otherSession } from "../support/database.ts";
import { eachTest } from "../support/each-test.ts";

const dayMs = 86_400_000;

const db = eachTest(() => testDatabase({ connections: 6 }));
const { store } = db;

/** Both wait for the row, the first before the second, and go on in that order. */
async function inOrder(first: () => Promise<unknown>, second: () => Promise<unknown>): Promise<void> {
  const holder = await otherSession(db.pool);
  await holder.query("select from belfry.job where task = 'approved' for update");
  const one = first();
  await untilWaiting(db, 1);
  const two = second();
  await untilWaiting(db, 2);
  await holder.query("commit");
  await Promise.all([one, two]);
}

test.each(["signal", "release"])(
  "a signal and a release that meet lose nothing: the %s comes first",
  async (earlier) => {
    const approved = aTask("approved", [0], { wait: { ms: 365 * dayMs, forSignal: true } });
    const bench = await workbench(store, { tasks: [aTask("ask"), approved] });
    const ask = await bench.claim("ask");
    if (ask === null) throw new Error("ask was not claimed");
    const release = () => store.settle([settlementOf(ask)], settleOptions);
    const signal = () => store.signal(bench.runId, "approved", { payload: { by: "ada" } });
    await (earlier === "signal" ? inOrder(signal, release) : inOrder(release, signal));
    const { rows } = await db.pool.query(
      `select state, payload, due_at <= belfry.now() as due, generation,
      (select count(*)::int from belfry.outbox where job.id = any(job_ids)) as messages
    from belfry.job where task = 'approved'`,
    );
    expect(rows).toEqual([{ state: "QUEUED", payload: { by: "ada" }, due: true, generation: 1, messages: 1 }]);
  },
);

test("of two signals that meet, the first is taken and the second a conflict", async () => {
  const bench = await workbench(store, { tasks: [aTask("approved", [], { wait: { ms: dayMs, forSignal: true } })] });
  const answers: unknown[] = [];
  const signal = (n: number) => async () =>
    void (answers[n] = (await store.signal(bench.runId, "approved", { payload: { n } })).is);
  await inOrder(signal(0), signal(1));
  expect(answers).toEqual(["taken", "conflict"]);
});
