/** Graphs, fan-outs and sweeps: what must compile, and the misuse that must not. Nothing here runs. */
import { defineFanOut, defineGraph, defineJob, defineSchedule, defineSweep, sql, type Job } from "belfry";
import { z } from "zod";

const settlement: Job<{ day: string }> = defineGraph({
  id: "settlement",
  version: 3,
  input: z.object({ day: z.iso.date() }),
  key: (input) => input.day,
  tasks(task) {
    const orders = task("orders", { run: async ({ input }) => ({ rows: input.day.length }) });
    const refunds = task("refunds", { run: async () => ({ rows: 2 }) });
    const match = task("match", {
      after: { orders, refunds },
      timeout: "30m",
      runOn: "fargate",
      run: async (o) => ({ diff: o.orders.rows - o.refunds.rows }),
    });
    const review = task("review", {
      after: { match },
      when: (o) => o.match.diff !== 0,
      run: async (o) => ({ ticket: `T-${o.match.diff}` }),
    });
    // What only comes after a branch runs only when the branch was taken: its output is there.
    const notify = task("notify", { after: { review }, run: (o) => ({ text: o.review.ticket }) });
    task("publish", {
      after: { match, review },
      join: "allDone",
      run: async (o) => ({ ticket: o.review?.ticket ?? null }),
    });

    // Where a branch meets others, its output may be missing.
    // @ts-expect-error the branch may not have been taken
    task("meet", { after: { match, notify }, run: (o) => ({ length: o.notify.text.length }) });
    // @ts-expect-error "any" makes every output optional
    task("first", { after: { orders, refunds }, join: "any", run: (o) => ({ rows: o.orders.rows }) });
    // @ts-expect-error an output field that does not exist
    task("unknown-field", { after: { orders }, run: (o) => ({ rows: o.orders.count }) });
    // @ts-expect-error a predecessor that was not declared
    task("undeclared", { after: { orders }, run: (o) => ({ rows: o.refunds.rows }) });
    // @ts-expect-error a handle before its declaration: no cycle can be written
    task("early", { after: { later }, run: () => null });
    const later = task("later", { run: () => null });
    // @ts-expect-error a name is not a handle
    task("by-name", { after: { orders: "orders" }, run: () => null });
    // @ts-expect-error one of those that are not needed may have no output
    task("some", { after: { orders, refunds }, join: { atLeast: 1 }, run: (o) => ({ rows: o.orders.rows.length }) });
    // @ts-expect-error a join rule that does not exist
    task("most", { after: { orders }, join: "most", run: () => null });
    // @ts-expect-error an input field that does not exist
    task("input", { run: ({ input }) => ({ month: input.month }) });
    const bill = task.each("bill", {
      after: { orders },
      from: (o) => [{ cents: o.orders.rows }],
      run: ({ cents }) => ({ cents }),
      async fold(outputs) {
        for await (const { cents } of outputs) return { first: cents };
        return null;
      },
    });
    // @ts-expect-error what the rows answer is not what fold makes of it
    task("unfolded", { after: { bill }, run: (o) => ({ cents: o.bill?.cents }) });
    const approved = task.waitFor("approved", {
      payload: z.object({ by: z.string() }),
      timeout: "3d",
      onTimeout: "continue",
    });
    // @ts-expect-error after its timeout a wait has no payload
    task("approved-by", { after: { approved }, run: (o) => ({ by: o.approved.by }) });
    task("logged", {
      run: () => null,
      // @ts-expect-error onSettled gets the run's input
      onSettled: async (input, settled, tx) => void (await tx.query("select $1", [input.month, settled.outcome])),
    });
  },
});

defineGraph({
  id: "passed-over",
  version: 1,
  onFailure: "continue",
  tasks(task) {
    const a = task("a", { run: () => ({ rows: 1 }) });
    // @ts-expect-error with "continue" a failed predecessor leaves nothing
    task("b", { after: { a }, run: (o) => ({ rows: o.a.rows }) });
    task("c", { after: { a }, run: (o) => ({ rows: o.a?.rows ?? 0 }) });
  },
});

// @ts-expect-error a failure policy that does not exist
defineGraph({ id: "ignore", version: 1, onFailure: "ignore", tasks: () => {} });
// @ts-expect-error a graph without a version
defineGraph({ id: "unversioned", tasks: () => {} });

defineSchedule({
  id: "daily",
  cron: "0 8 * * *",
  timezone: "Asia/Seoul",
  run: settlement,
  payload: { day: "2031-05-06" },
});
// @ts-expect-error a schedule of a graph needs its input
defineSchedule({ id: "no-input", cron: "0 8 * * *", timezone: "Asia/Seoul", run: settlement });

const sendPush = defineJob({
  id: "send-push",
  payload: z.object({ userId: z.string(), day: z.string() }),
  run: () => null,
});
const users = () => sql<{ id: string }>`select id from app_user order by id`;

const quiz: Job<void> = defineFanOut({
  id: "daily-quiz",
  materializeBefore: "10m",
  from: (s) => sql<{ id: string }>`select id from app_user where zone = ${s.timezone}`,
  key: (row, s) => `${s.day}:${row.id}`,
  each: sendPush,
  payload: (row, s) => ({ userId: row.id, day: s.day }),
  stillWanted: async (row) => row.id !== "",
});
defineSchedule({ id: "quiz", cron: "0 8 * * *", timezone: "Asia/Seoul", run: quiz });

// @ts-expect-error a fan-out without a key could not be repeated after a crash
defineFanOut({ id: "no-key", from: users, each: sendPush, payload: (row, s) => ({ userId: row.id, day: s.day }) });
const byId = (row: { id: string }) => row.id;
const userIn = (row: { id: string }) => ({ user: row.id });
const payload = (row: { id: string }) => ({ userId: row.id, day: "" });
// @ts-expect-error a payload that the job does not take
defineFanOut({ id: "wrong-payload", from: users, key: byId, each: sendPush, payload: userIn });
const sent = { from: users, key: byId, each: sendPush, payload };
const day = ({ runId: userId, moment }: { runId: string; moment: { day: string } }) => ({ userId, day: moment.day });
defineFanOut({ ...sent, id: "followed", then: sendPush, thenPayload: day });
// @ts-expect-error a payload that the job that follows does not take
defineFanOut({ ...sent, id: "wrong-follower", then: sendPush, thenPayload: ({ failed }) => ({ failed }) });
// @ts-expect-error a column the query does not have
defineFanOut({ id: "wrong-row", from: users, key: (row) => row.name, each: sendPush, payload });

defineSweep({ id: "due", due: users, key: byId, each: sendPush, payload, maxLateness: "60s" });
// @ts-expect-error a sweep says how late it may be
defineSweep({ id: "no-lateness", due: users, key: byId, each: sendPush, payload });
