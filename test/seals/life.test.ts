import { definitionOf } from "../../src/define/define-job.ts";
import { registry } from "../../src/define/definition.ts";
import { archiveLimits, archiveParts } from "../../src/insight/archive.ts";
import { contractLimits } from "../../src/machine/contract-limits.ts";
import { deliveryLimits } from "../../src/machine/delivery-limits.ts";
import { createArchiveSource } from "../../src/postgres/archive-source.ts";
import { drain } from "../../src/run/drain.ts";
import { encodeMessage } from "../../src/run/message.ts";
import type { JobId } from "../../src/machine/job.ts";
import { createClient } from "../../src/run/enqueue.ts";
import { createWorker } from "../../src/run/worker.ts";
import { ownSeals } from "../../src/testing/own-seals.ts";
import { world } from "../core/world.ts";
import { freshDatabase } from "../support/database.ts";
import { expect, test } from "vitest";
import { z } from "zod";
import {
  type DatabasePool,
  defineApp,
  defineFanOut,
  defineGraph,
  defineJob,
  defineSchedule,
  PermanentError,
} from "belfry";
import { createTestSystem } from "belfry/testing";
import { dayMs } from "../../src/machine/units.ts";

/** Stands in every payload, result, error and log line of this file, and nowhere else. */
const planted = "4111-1111-1111-1111";
const payload = z.object({ card: z.string() });
const seen: unknown[] = [];
/** A release whose schema refuses what the one before took. */
let isStricter = false;

const pay = defineJob({
  id: "pay",
  seal: "payroll",
  payload,
  retry: { maxAttempts: 2, base: "1s" },
  async run({ card }, ctx) {
    ctx.log.info(`paying with ${card}`);
    seen.push(card);
    if (ctx.failures === 0) throw new Error(`the bank refuses ${card}`);
    await ctx.enqueue(note, { card });
    return { paid: card };
  },
});
const note = defineJob({
  id: "note",
  seal: "payroll",
  payload,
  async run({ card }, ctx) {
    await ctx.tx(async () => ({ noted: card }));
  },
});
const refused = defineJob({
  id: "refused",
  seal: "payroll",
  payload: payload.refine(() => !isStricter, { error: ({ input }) => JSON.stringify(input) }),
  run({ card }) {
    throw new PermanentError(`no account of ${card}`, { code: "NO_ACCOUNT" });
  },
});
const unkept = defineJob({
  id: "unkept",
  seal: "payroll",
  payload,
  run: ({ card }) => ({ [card]: () => {} }) as unknown as Record<string, null>,
});
const everyNight = defineSchedule({
  id: "nightly",
  cron: "0 3 * * *",
  timezone: "Asia/Seoul",
  run: note,
  payload: () => ({ card: planted }),
});
const toAll = defineFanOut({
  id: "to-all",
  from: () => rows(),
  key: ({ id }) => id,
  each: note,
  payload: ({ card }) => ({ card }),
  stillWanted: ({ card }) => card === planted && seen.push("wanted") > 0,
});
async function* rows() {
  yield { id: "a", card: planted };
}
const graph = defineGraph({
  id: "payday",
  version: 1,
  seal: "payroll",
  input: payload,
  tasks(task) {
    const first = task("first", { run: ({ input }) => ({ seen: input.card }) });
    const each = task.each("each", {
      after: { first },
      from: ({ first: { seen: card } }) => [{ card }],
      run: ({ card }) => ({ row: card }),
      async fold(outputs) {
        const all = [];
        for await (const { row } of outputs) all.push(row);
        return all;
      },
    });
    const signal = task.waitFor("approval", { after: { each }, payload, timeout: "1d" });
    task("last", {
      after: { each, signal },
      when: ({ each: cards }) => cards[0] === planted,
      run: ({ input, each: cards, signal: { card } }) => void seen.push([input.card, ...cards, card].join()),
    });
  },
  then: note,
  thenPayload: ({ input }) => ({ card: input.card }),
});
/** Not sealed: what it is given is found in the dump. */
const open = defineJob({ id: "open", payload: z.object({ text: z.string() }), run: () => {} });
const app = defineApp({
  name: "payroll",
  jobs: [pay, note, refused, unkept, toAll, graph, open],
  schedules: [everyNight],
});

/** Every row of every table of the database, as text. */
async function dumped(database: DatabasePool): Promise<string> {
  const { rows: tables } = await database.query<{ name: string }>(
    "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')",
  );
  const texts: string[] = [];
  for (const { name } of tables) {
    const { rows: found } = await database.query<{ row: string }>(`select t::text as row from ${name} t`);
    texts.push(...found.map(({ row }) => `${name} ${row}`));
  }
  return texts.join("\n");
}

test("nothing that a sealed job is given, returns, throws or logs stands in any row after its whole life", async () => {
  seen.length = 0;
  await using system = await createTestSystem({ apps: [app], at: "2031-01-01T17:58:00Z" });
  const { id } = await pay.enqueue({ card: planted });
  const bad = await refused.enqueue({ card: planted });
  const late = await refused.enqueue({ card: planted }, { delay: "90s" });
  const odd = await unkept.enqueue({ card: planted });
  const rescued = await note.enqueue({ card: planted });
  system.crash("before-settle");
  const client = await system.database.connect();
  await client.query("begin");
  await note.enqueueAll([{ payload: { card: planted } }, { payload: { card: planted } }], { tx: client });
  await client.query("commit");
  client.release();
  await toAll.enqueue();
  await open.enqueue({ text: "found in the dump" });
  const run = await graph.enqueue({ card: planted });
  await system.drain();
  await system.advance("1m");
  const { rows: runs } = await system.database.query<{ id: string }>("select id from belfry.run where kind = 'payday'");
  await system.signal(runs[0]?.id as Parameters<typeof system.signal>[0], "approval", { card: planted });
  isStricter = true;
  await system.advance("2m");
  isStricter = false;

  const text = await dumped(system.database);
  expect(text.split("\n").filter((row) => row.includes(planted))).toEqual([]);
  expect(text).toContain("found in the dump");
  expect(seen).toContain([planted, planted, planted].join());
  expect(seen).toContain("wanted");
  expect(await system.job(id)).toMatchObject({
    state: "SUCCESS",
    payload: { card: planted },
    result: { paid: planted },
  });
  const withheld = { state: "FAILED", errorMessage: "[sealed]" };
  expect(await system.job(bad.id)).toMatchObject({ ...withheld, errorCode: "NO_ACCOUNT" });
  expect(await system.job(late.id)).toMatchObject({ ...withheld, errorCode: "INVALID_PAYLOAD" });
  expect(await system.job(odd.id)).toMatchObject({ ...withheld, errorCode: "INVALID_RESULT" });
  expect(await system.job(run.id)).toMatchObject({ state: "SUCCESS" });
  expect(await system.job(rescued.id)).toMatchObject({ state: "SUCCESS" });
  const { rows: lost } = await system.database.query("select kind from belfry.job where interruptions > 0");
  expect(lost.length).toBeGreaterThan(0);
  const { rows: waiting } = await system.database.query(
    "select kind, state, error_message from belfry.job where state not in ('SUCCESS', 'FAILED')",
  );
  expect(waiting).toEqual([]);
  expect((await system.occurrences(everyNight)).map(({ outcome }) => outcome)).toEqual(["FIRED"]);
});

test("no message, no dead letter and no line of the archive says what a sealed job was given", async () => {
  await using closing = new AsyncDisposableStack();
  const db = await freshDatabase({ own: true });
  closing.defer(() => db.close());
  // A batch of the archive has the rows of one day, so all of them end in one.
  await db.clock.advance(dayMs - (Date.now() % dayMs));
  const base = world();
  const ports = { ...base, store: db.store, seals: ownSeals() };
  const known = registry([app]);
  const client = createClient(ports);
  const bodies: string[] = [];
  const received = () => {
    const records = base.queue.receive("default", 10);
    bodies.push(...records.map(({ body }) => body));
    base.queue.delete(
      "default",
      records.map(({ messageId }) => messageId),
    );
    return records;
  };

  await client.enqueue(definitionOf(pay), [{ payload: { card: planted } }]);
  for (let death = 0; death < contractLimits.undeliveredMax; death += 1) {
    const { rows } = await db.pool.query<{ id: JobId; generation: number }>("select id, generation from belfry.job");
    const dead = rows.map(({ id, generation }) => encodeMessage({ jobId: id, generation, trace: "" }));
    const records = [...received(), ...dead.map((body) => ({ messageId: "dead", body }))];
    expect(await drain(ports, known, records, { lane: "default" })).toEqual({ failed: [] });
    await db.clock.advance(deliveryLimits.deadLetterBackoffMs * 10);
    await db.store.relay({ limit: 10 });
  }
  await client.enqueue(definitionOf(refused), [{ payload: { card: planted } }]);
  await client.enqueue(definitionOf(open), [{ payload: { text: "found in the archive" } }]);
  const worker = createWorker(ports, known, { stage: "test", worker: "w", lane: "default" });
  await worker.handle(received(), { remainingMs: () => 600_000 });
  const { rows } = await db.pool.query<{ said: string }>(
    "select kind || ' ' || state as said from belfry.job order by id",
  );
  expect(rows.map(({ said }) => said)).toEqual(["pay FAILED", "refused FAILED", "open SUCCESS"]);
  const stored = await dumped(db.pool);

  await db.clock.advance(400 * dayMs + archiveLimits.rowsWaitMs);
  const source = createArchiveSource(db.connections);
  const lines: string[] = [];
  for (const part of archiveParts) {
    const batch = await source.next(part);
    lines.push(...(batch?.rows ?? []).map(({ line }) => line));
  }
  expect(lines.join("\n")).toContain("found in the archive");
  expect(lines.filter((line) => line.includes('"pay"')).length).toBeGreaterThan(0);
  expect(bodies.length).toBeGreaterThan(2);
  for (const text of [stored, ...lines, ...bodies, JSON.stringify(base.lines)]) expect(text).not.toContain(planted);
});
