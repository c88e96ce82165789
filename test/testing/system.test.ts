import {
  defineApp,
  defineFanOut,
  defineGraph,
  defineJob,
  defineSchedule,
  PermanentError,
  RetryLater,
  sql,
} from "belfry";
import { databasePool } from "belfry/connect";
import { createTestSystem, runJob, timesOf } from "belfry/testing";
import type { JobId, RunId } from "../../src/machine/job.ts";
import { expect, inject, onTestFinished, test, vi } from "vitest";
import { z } from "zod";

const databaseUrl = (): string => inject("postgresUrl");
const greet = defineJob({
  id: "greet",
  payload: z.object({ name: z.string() }),
  retry: { maxAttempts: 4, base: "1s" },
  run({ name }, ctx) {
    ctx.log.info(`Good morning, ${name}!`, { attempt: ctx.attempt });
  },
});
const everyMinute = defineSchedule({
  id: "greet-every-minute",
  cron: "* * * * *",
  timezone: "UTC",
  run: greet,
  payload: { name: "Ada" },
});
const quiet = defineApp({ name: "shop", jobs: [greet] });
const chatty = defineApp({ name: "shop", jobs: [greet], schedules: [everyMinute] });
const at = "2031-01-01T08:00:00Z";

test("time moves only when the test says so, and schedules fire at their times", async () => {
  await using system = await createTestSystem({ apps: [chatty], at, databaseUrl: databaseUrl() });
  expect(await system.drain()).toEqual([]);
  const ran = await system.advance("3m");
  expect(ran.map(({ kind, state }) => [kind, state])).toEqual(Array.from({ length: 3 }, () => ["greet", "SUCCESS"]));
  expect(await system.now()).toEqual(new Date("2031-01-01T08:03:00Z"));
  expect(system.logs.filter(({ message }) => message === "Good morning, Ada!")).toHaveLength(3);
  expect(await system.occurrences(everyMinute)).toHaveLength(3);
});

test("a planted failure is tried again after the backoff, and what waits can be seen", async () => {
  await using system = await createTestSystem({ apps: [quiet], at, databaseUrl: databaseUrl() });
  system.fail(greet, new RetryLater("busy", { after: "90s" }));
  system.fail(greet, new Error("still busy"));
  const { id } = await greet.enqueue({ name: "Bob" }, { key: "bob" });
  expect(await system.enqueued(greet)).toMatchObject([{ id, payload: { name: "Bob" }, key: "bob" }]);
  expect(await system.drain()).toMatchObject([{ id, state: "RETRY_WAIT", attempt: 1, error: "busy" }]);
  expect(await system.advance("1m")).toEqual([]);
  await system.advance("2m");
  expect(await system.job(id))?.toMatchObject({ state: "SUCCESS", attempt: 3 });
});

test("a planted failure is met by the attempt, and not by the scheduler that makes the job", async () => {
  await using system = await createTestSystem({ apps: [chatty], at, databaseUrl: databaseUrl() });
  system.fail(greet, new Error("busy"), 2);
  const ran = await system.advance("1m");
  expect(ran).toMatchObject([{ state: "RETRY_WAIT", attempt: 1, error: "busy" }]);
  await system.advance("30s");
  const [first] = await system.occurrences(everyMinute);
  expect(first).toMatchObject({ outcome: "FIRED" });
  expect(await system.job(first?.jobId ?? ("0" as JobId)))?.toMatchObject({ state: "SUCCESS", attempt: 3 });
});

test("a planted failure is met by attempts alone, and `onSettled` gets each outcome", async () => {
  const settled: string[] = [];
  const hooked = defineJob({
    id: "hooked",
    retry: { maxAttempts: 2, base: "1s" },
    run: () => {},
    onSettled: async (_, { outcome, attempt, final }) => void settled.push(`${attempt} ${outcome} ${String(final)}`),
  });
  const apps = [defineApp({ name: "shop", jobs: [hooked] })];
  await using system = await createTestSystem({ apps, databaseUrl: databaseUrl() });
  system.fail(hooked, new Error("down"), 2);
  await hooked.enqueue();
  await system.advance("10s");
  expect(settled).toEqual(["1 FAILED false", "2 FAILED true"]);
});

test("a permanent failure ends the job", async () => {
  await using system = await createTestSystem({ apps: [quiet], databaseUrl: databaseUrl() });
  system.fail(greet, new PermanentError("gone", { code: "GONE" }));
  const { id } = await greet.enqueue({ name: "Bob" });
  expect(await system.drain()).toMatchObject([{ state: "FAILED", error: "gone" }]);
  expect(await system.job(id))?.toMatchObject({ errorCode: "GONE" });
});

test.each(["claimed", "before-settle", "settled"] as const)(
  "a worker that dies at %s loses no job, and an outcome that was written stands",
  async (where) => {
    await using system = await createTestSystem({ apps: [quiet], at, databaseUrl: databaseUrl() });
    system.crash(where);
    const { id } = await greet.enqueue({ name: "Bob" });
    const ran = [...(await system.drain())];
    expect((await system.job(id))?.state).toBe(where === "settled" ? "SUCCESS" : "RUNNING");
    ran.push(...(await system.advance("5m")));
    expect(ran).toMatchObject([{ id, state: "SUCCESS" }]);
    expect(await system.job(id))?.toMatchObject({ state: "SUCCESS", attempt: where === "settled" ? 1 : 2 });
    const greetings = system.logs.filter(({ message }) => message === "Good morning, Bob!");
    expect(greetings).toHaveLength(where === "before-settle" ? 2 : 1);
  },
);

/** Bills three rows, of which one is tried again, and waits for a signal when two of three checks have succeeded. */
const month = defineGraph({
  id: "month",
  version: 1,
  tasks(task) {
    const list = task("list", { run: () => [1, 2, 3] });
    const bill = task.each("bill", {
      after: { list },
      from: (given) => given.list,
      retry: { maxAttempts: 2, base: "10m" },
      run(row, ctx) {
        if (row === 2 && ctx.attempt === 1) throw new Error("later");
        return row * 10;
      },
      async fold(outputs) {
        let sum = 0;
        for await (const cents of outputs) sum += cents;
        return sum;
      },
    });
    const a = task("a", { after: { bill }, run: () => 1 });
    const b = task("b", { after: { bill }, run: () => Promise.reject(new PermanentError("no")) });
    const c = task("c", { after: { bill }, run: () => 3 });
    const two = task("two", { after: { a, b, c }, join: { atLeast: 2 }, run: () => {} });
    const approved = task.waitFor("approved", { after: { two }, payload: z.object({ by: z.string() }), timeout: "2h" });
    task("close", { after: { approved, bill }, run: ({ approved: { by }, bill: sum }) => ({ by, sum }) });
  },
});
const months = defineSchedule({ id: "months", cron: "0 9 * * *", timezone: "UTC", run: month });
const follow = (on: "success" | "end", within: "1h" | "3h") =>
  defineSchedule({ id: `on-${on}`, after: { schedule: "months", within, on }, run: greet, payload: { name: on } });

test("rows, joins, signals and a chain of schedules go by the moved clock", async () => {
  const [onSuccess, onEnd] = [follow("success", "1h"), follow("end", "3h")];
  const app = defineApp({ name: "shop", jobs: [month, greet], schedules: [months, onSuccess, onEnd] });
  await using system = await createTestSystem({ apps: [app], at, databaseUrl: databaseUrl() });
  await system.advance("150m");
  const { rows } = await system.database.query<{ id: RunId }>("select id from belfry.run where kind = 'month'");
  const [run] = rows;
  if (run === undefined) throw new Error("no run was started");
  expect(await system.run(run.id)).toMatchObject({ state: "RUNNING", progress: { ok: 5, failed: 1 } });
  const decidedAt = Date.parse("2031-01-01T10:00:00.001Z");
  expect(await system.occurrences(onSuccess)).toMatchObject([{ reason: "not-followed", decidedAt }]);
  await system.signal(run.id, "approved", { by: "ada" });
  const ran = await system.drain();
  expect(ran.map(({ kind }) => kind)).toEqual(["month.approved", "month.close", "greet"]);
  expect(await system.job(ran[1]?.id ?? ("0" as JobId))).toMatchObject({ result: { by: "ada", sum: 60 } });
  expect(await system.occurrences(onEnd)).toMatchObject([{ outcome: "FIRED" }]);
});

test("a handler's transaction, a graph and a fan-out run on the real tables", async () => {
  const note = defineJob({
    id: "note",
    payload: z.object({ n: z.number() }),
    run: ({ n }, ctx) => ctx.tx(async (tx) => void (await tx.query("insert into note values ($1)", [n]))),
  });
  const graph = defineGraph({
    id: "both",
    version: 1,
    tasks(task) {
      const a = task("a", { run: () => 3 });
      const b = task("b", { run: () => 4 });
      task("sum", {
        after: { a, b },
        run: ({ a: left, b: right }, ctx) =>
          ctx.tx(async (tx) => void (await tx.query("insert into note values ($1)", [left + right]))),
      });
    },
  });
  const all = defineFanOut({
    id: "all",
    from: () => sql<{ n: number }>`select n from number`,
    by: "n",
    key: ({ n }) => String(n),
    each: note,
    payload: ({ n }) => ({ n }),
  });
  const app = defineApp({ name: "shop", jobs: [note, graph, all] });
  await using system = await createTestSystem({ apps: [app], databaseUrl: databaseUrl() });
  await system.database.query("create table note (n int); create table number (n int)");
  await system.database.query("insert into number select generate_series(1, 25)");
  await graph.enqueue();
  await all.enqueue();
  const ran = await system.drain();
  expect(ran.filter(({ kind, state }) => kind === "note" && state === "SUCCESS")).toHaveLength(25);
  expect((await system.database.query("select sum(n)::int as sum from note")).rows).toEqual([{ sum: 7 + 325 }]);
});

test("a handler's own pool leads to the database of the system that is open, and to no other", async () => {
  vi.stubEnv("DATABASE_URL", undefined);
  onTestFinished(() => void vi.unstubAllEnvs());
  const pool = databasePool({ poolSize: 1 });
  const count = defineJob({
    id: "count",
    run: async () => (await pool().query<{ n: number }>("select n from number")).rows,
  });
  const app = defineApp({ name: "shop", jobs: [count] });
  for (const n of [3, 4]) {
    await using system = await createTestSystem({ apps: [app], databaseUrl: databaseUrl() });
    await system.database.query(`create table number (n int); insert into number values (${n})`);
    const { id } = await count.enqueue();
    await system.drain();
    expect((await system.job(id))?.result).toEqual([{ n }]);
  }
  expect(pool).toThrow("DATABASE_URL");
});

test("a job of no app of the system is refused: it would wait for ever", async () => {
  const lost = defineJob({ id: "lost", run: () => {} });
  await using system = await createTestSystem({ apps: [quiet], databaseUrl: databaseUrl() });
  await expect(lost.enqueue()).rejects.toThrow('job "lost" is in no app of this test system: add it to `apps`');
  expect(await system.drain()).toEqual([]);
});

test("a fan-out over a query without its column says which one, and what names another", async () => {
  const users = defineFanOut({
    id: "users",
    from: () => sql<{ name: string }>`select 'Ada' as name`,
    each: greet,
    key: ({ name }) => name,
    payload: ({ name }) => ({ name }),
  });
  const app = defineApp({ name: "shop", jobs: [users] });
  await using system = await createTestSystem({ apps: [app], at, databaseUrl: databaseUrl() });
  await users.enqueue();
  const [ran] = await system.drain();
  expect(ran?.error).toBe('"users": its query has no column "id": select it, or name another one as `by`');
});

test("one process has one open system", async () => {
  await using system = await createTestSystem({ apps: [quiet], databaseUrl: databaseUrl() });
  await expect(createTestSystem({ apps: [quiet], databaseUrl: databaseUrl() })).rejects.toThrow("dispose it first");
  await expect(system.advance({ to: "2001-01-01T00:00:00Z" })).rejects.toThrow("would go back");
});

test("definitions that check refuses open no system", async () => {
  const broken = defineApp({ name: "broken", jobs: [defineJob({ id: "Not An Id", run: () => {} })] });
  await expect(createTestSystem({ apps: [broken] })).rejects.toThrow("Not An Id");
});

test("runJob runs a handler alone and writes down what it did", async () => {
  const job = defineJob({
    id: "reports",
    payload: z.object({ n: z.number().default(2) }),
    async run({ n }, ctx) {
      await ctx.heartbeat(0.5);
      ctx.metric("reports.made", n);
      await ctx.enqueue(greet, { name: `number ${n}` });
      return { n, attempt: ctx.attempt, at: ctx.scheduledFor.toISOString() };
    },
  });
  const ran = await runJob(job, {}, { attempt: 3, scheduledFor: at });
  expect(ran).toMatchObject({
    error: undefined,
    result: { n: 2, attempt: 3, at: "2031-01-01T08:00:00.000Z" },
    enqueued: [{ kind: "greet", payload: { name: "number 2" } }],
    metrics: [{ name: "reports.made", value: 2 }],
    progress: [0.5],
  });
  const inTx = defineJob({ id: "in-tx", run: (_, ctx) => ctx.tx(async () => {}) });
  expect(String((await runJob(inTx, undefined)).error)).toContain("createTestSystem");
  await expect(runJob(greet, { name: 1 as never })).rejects.toThrow("name");
});

test("a handler is answered the secret that its test gives, and says which one is missing", async () => {
  const pay = defineJob({ id: "pay", secrets: ["BANK_KEY"], run: (_, ctx) => ctx.secret("BANK_KEY").length });
  expect(await runJob(pay, undefined, { secrets: { BANK_KEY: "four" } })).toMatchObject({ result: 4 });
  expect(String((await runJob(pay, undefined)).error)).toContain('the secret "BANK_KEY" of job "pay" is missing');
  const apps = [defineApp({ name: "shop", jobs: [pay] })];
  await using system = await createTestSystem({ apps, databaseUrl: databaseUrl(), secrets: { BANK_KEY: "four" } });
  const { id } = await pay.enqueue();
  await system.drain();
  expect(await system.job(id)).toMatchObject({ state: "SUCCESS", result: 4 });
});

test("timesOf shows the reading that the clock jumps over", () => {
  const nightly = defineSchedule({
    id: "nightly",
    cron: "30 2 * * *",
    timezone: "Europe/Berlin",
    run: greet,
    payload: { name: "x" },
    dst: { gap: "skip" },
  });
  const times = timesOf(nightly, { after: "2031-03-29T00:00:00Z", until: "2031-03-31T12:00:00Z" });
  expect(times.map(({ localTime, kind }) => [localTime, kind])).toEqual([
    ["2031-03-29T02:30", "fires"],
    ["2031-03-30T02:30", "dst-gap"],
    ["2031-03-31T02:30", "fires"],
  ]);
});
