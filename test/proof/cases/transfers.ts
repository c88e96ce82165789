import { type Hunted, startHunted } from "../hunted.ts";
import { assessSuccess } from "../judge.ts";
import { type Checklist, type Proof, seeded } from "../proof.ts";
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
    const hunted = await startHunted(context, {
      app: "transfers",
      sql,
      lane: () => ({ visibilityTimeoutSeconds: 4, concurrency: 3 }),
    });
    const { system } = hunted;
    const count = Math.round(transfers * context.size);
    const moves = Array.from({ length: count }, (_, n) => move(n, random));
    const startedMs = elapsedMs();
    const items = moves.map((payload) => ({ payload }));
    await hunted.enqueue("transfer", items, duplicateShare);
    hunted.kill(killEveryMs);
    await hunted.untilEnded(540_000);
    hunted.endKills();
    const seconds = (elapsedMs() - startedMs) / 1_000;
    await until("the queue to be empty", 60_000, async () => {
      const { visible, inFlight } = await system.runtime.ports.queue.depth("default");
      return visible + inFlight === 0;
    });
    await assess(list, hunted, moves);
    list.figure(`${count} transfers in ${seconds.toFixed(0)} s, ${hunted.seen()}`);
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

async function assess(list: Checklist, { system, judged }: Hunted, moves: readonly Move[]): Promise<void> {
  const done = await system.rows<{ n: number; jobId: string; attempt: number }>(
    `select n, job_id::text as "jobId", attempt from proof.transfer order by n`,
  );
  const tables = await judged(list, {
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
  const balances = await system.rows<{ id: number; balance: string }>(
    "select id, balance from proof.account order by id",
  );
  const wrong = balances.filter(({ id, balance }) => Number(balance) !== expected.get(id));
  list.expectNone(
    "balances are exact",
    wrong,
    ({ id, balance }) => `account ${id}: ${balance}, not ${expected.get(id)}`,
  );
  list.figure(
    `${tables.attempts.filter((attempt) => attempt.outcome !== "SUCCESS").length} tries lost or failed on the way`,
  );
}
