import { encodeMessage } from "../../../src/run/message.ts";
import type { Message } from "../../../src/machine/outbox.ts";
import { assessSuccess, judge } from "../judge.ts";
import { killNowAndThen } from "../killer.ts";
import { type Checklist, type Proof, seeded } from "../proof.ts";
import { startSystem, type System } from "../system.ts";
import { elapsedMs, until } from "../until.ts";

const accounts = 50;
const opening = 1_000_000;
const transfers = 10_000;
const duplicateShare = 0.2;
const killEveryMs = 3_000;

const sql = `
create schema proof;
create table proof.account (id int primary key, balance bigint not null);
insert into proof.account select n, ${opening} from generate_series(1, ${accounts}) n;
create table proof.transfer (n int not null, job_id bigint not null, attempt int not null);`;

/** Money moves exactly once, although messages come twice and workers die in the middle. */
export const transfersProof: Proof = {
  name: "transfers",
  about: "10,000 transfers in ctx.tx, 20 % of the messages twice, random kill -9: balances exact",
  guards: ["tx"],
  async run(context, list) {
    const random = seeded(context.seed);
    const system = await startSystem(context, {
      app: "transfers",
      sql,
      lane: () => ({ visibilityTimeoutSeconds: 4, concurrency: 3 }),
    });
    await system.install();
    const wakes = system.wakes({ everyMs: 0 });
    const count = Math.round(transfers * context.size);
    const moves = Array.from({ length: count }, (_, n) => move(n, random));
    const startedMs = elapsedMs();
    const fleet = system.fleet({ deadLetters: true });
    let duplicates = 0;
    for (let from = 0; from < count; from += 1_000) {
      const page = moves.slice(from, from + 1_000);
      const answers = await system.enqueue(
        "transfer",
        page.map((payload) => ({ payload })),
      );
      duplicates += await sendAgain(
        system,
        answers.filter(() => random() < duplicateShare).map(({ id }) => id),
      );
    }
    const killer = killNowAndThen(system, fleet.pids, { everyMs: killEveryMs, random });
    await until("all transfers to end", 540_000, async () => (await system.openJobs()) === 0);
    killer.stop();
    const seconds = (elapsedMs() - startedMs) / 1_000;
    await until("the queue to be empty", 60_000, async () => {
      const { visible, inFlight } = await system.runtime.ports.queue.depth("default");
      return visible + inFlight === 0;
    });
    await wakes.stop();
    await fleet.stop();
    await assess(list, system, moves);
    list.expect("workers were killed", killer.count() >= 3 * context.size, killer.count());
    list.figure(
      `${count} transfers in ${seconds.toFixed(0)} s, ${duplicates} messages sent twice, ${killer.count()} workers killed`,
    );
  },
};

interface Move {
  readonly n: number;
  readonly from: number;
  readonly to: number;
  readonly amount: number;
}

function move(n: number, random: () => number): Move {
  const from = 1 + Math.floor(random() * accounts);
  const to = 1 + ((from + Math.floor(random() * (accounts - 1))) % accounts);
  return { n, from, to, amount: 1 + Math.floor(random() * 100) };
}

/** The same messages once more, as a queue that delivers at least once may. */
export async function sendAgain(system: System, ids: readonly string[]): Promise<number> {
  const url = system.queues.find(({ lane }) => lane.name === "default")?.url;
  const { rows } = await system.pool.query<Message>(
    `select id::text as "jobId", generation, trace from belfry.job where id = any($1)`,
    [ids],
  );
  for (let from = 0; from < rows.length; from += 10) {
    const entries = rows
      .slice(from, from + 10)
      .map((row, index) => ({ Id: String(index), MessageBody: encodeMessage(row) }));
    await system.sqs.call("SendMessageBatch", { QueueUrl: url, Entries: entries });
  }
  return rows.length;
}

async function assess(list: Checklist, system: System, moves: readonly Move[]): Promise<void> {
  const { rows: done } = await system.pool.query<{ n: number; jobId: string; attempt: number }>(
    `select n, job_id::text as "jobId", attempt from proof.transfer order by n`,
  );
  const tables = await judge(list, system, {
    transactional: done.map(({ jobId, attempt }) => ({ key: `${jobId}:transfer`, jobId, attempt })),
    transactionalKinds: ["transfer"],
  });
  assessSuccess(list, tables.jobs);
  const times = Map.groupBy(done, ({ n }) => n);
  list.expectNone(
    "every transfer happened once",
    moves.flatMap(({ n }) => (times.get(n)?.length === 1 ? [] : [`${n}: ${times.get(n)?.length ?? 0} times`])),
  );
  const expected = new Map(Array.from({ length: accounts }, (_, index) => [index + 1, opening]));
  for (const { from, to, amount } of moves) {
    expected.set(from, (expected.get(from) ?? 0) - amount);
    expected.set(to, (expected.get(to) ?? 0) + amount);
  }
  const { rows: balances } = await system.pool.query<{ id: number; balance: string }>(
    "select id, balance from proof.account order by id",
  );
  const wrong = balances.filter(({ id, balance }) => Number(balance) !== expected.get(id));
  list.expectNone(
    "balances are exact",
    wrong.map(({ id, balance }) => `account ${id}: ${balance}, not ${expected.get(id)}`),
  );
  list.figure(
    `${tables.attempts.filter((attempt) => attempt.outcome !== "SUCCESS").length} tries lost or failed on the way`,
  );
}
