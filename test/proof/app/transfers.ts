import { defineApp, defineJob, type Tx } from "belfry";
import { Pool } from "pg";
import { z } from "zod";
import { quick, without } from "./target.ts";

/** Moves money between two accounts and notes it, in the transaction that also completes the job. */
const transfer = defineJob({
  id: "transfer",
  ...quick,
  timeout: "10s",
  retry: { maxAttempts: 1_000, backoff: "fixed", base: "50ms" },
  payload: z.object({ from: z.number(), to: z.number(), amount: z.number(), n: z.number() }),
  async run(payload, ctx) {
    if (without("tx")) await apart((tx) => move(tx, payload));
    else await ctx.tx((tx) => move(tx, payload));
  },
});

/** `note` has no unique key on purpose: a transfer that happens twice shall be seen twice. */
async function move(tx: Tx, { from, to, amount, n }: { from: number; to: number; amount: number; n: number }) {
  await tx.query("select id from proof.account where id = any($1) order by id for update", [[from, to]]);
  await tx.query("update proof.account set balance = balance - $2 where id = $1", [from, amount]);
  await tx.query("update proof.account set balance = balance + $2 where id = $1", [to, amount]);
  await tx.query("insert into proof.transfer (n, pid) values ($1, $2)", [n, process.pid]);
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
