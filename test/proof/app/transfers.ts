import { defineApp, defineJob, type Context, type Tx } from "belfry";
import { Pool } from "pg";
import { z } from "zod";
import { quick, without } from "./target.ts";

const payload = z.object({ from: z.number(), to: z.number(), amount: z.number(), n: z.number() });

/** Moves money between two accounts and notes it, in the transaction that also completes the job. */
const transfer = defineJob({
  id: "transfer",
  ...quick,
  timeout: "10s",
  retry: { maxAttempts: 1_000, backoff: "fixed", base: "50ms" },
  payload,
  async run(input, ctx) {
    if (without("tx")) await apart((tx) => move(tx, input, ctx));
    else await ctx.tx((tx) => move(tx, input, ctx));
  },
});

/** `note` has no unique key on purpose: a transfer that happens twice shall be seen twice. */
async function move(tx: Tx, { from, to, amount, n }: z.output<typeof payload>, ctx: Context): Promise<void> {
  await tx.query("select id from proof.account where id = any($1) order by id for update", [[from, to]]);
  await tx.query("update proof.account set balance = balance - $2 where id = $1", [from, amount]);
  await tx.query("update proof.account set balance = balance + $2 where id = $1", [to, amount]);
  await tx.query("insert into proof.transfer (n, job_id, attempt) values ($1, $2, $3)", [n, ctx.jobId, ctx.attempt]);
}

let pool: Pool | null = null;

/** The guard taken away: the same work in a transaction of its own, committed before the job is settled. */
async function apart(work: (tx: Tx) => Promise<void>): Promise<void> {
  pool ??= new Pool({ connectionString: process.env["DATABASE_URL"] ?? "", max: 2 });
  const client = await pool.connect();
  try {
    await client.query("begin");
    await work(client);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback");
    throw error;
  } finally {
    client.release();
  }
}

export default [defineApp({ name: "proof", jobs: [transfer] })];
