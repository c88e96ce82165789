import { steadySql } from "../app/steady.ts";
import { type Load, startLoad } from "../load.ts";
import { startOwnPostgres } from "../own-postgres.ts";
import { type Checklist, type Proof, type ProofContext, seeded } from "../proof.ts";
import { startInstalled, type System } from "../system.ts";
import { elapsedMs, holds, letPass, until } from "../until.ts";

const crashes = 20;
const betweenMs = { min: 1_500, more: 3_000 };
const reportEach = 10;

/** Postgres crashes while jobs are enqueued and worked, and comes back on the same port with what it had committed. */
export const pgCrash: Proof = {
  name: "pg-crash",
  about:
    "kill -9 or immediate shutdown of Postgres under load, 20 times: nothing acknowledged is lost, no process exits",
  guards: ["listener"],
  isUnderLoad: true,
  async run(context, list) {
    const postgres = await startOwnPostgres(context);
    const system = await startInstalled(
      { ...context, postgresUrl: postgres.url },
      {
        app: "steady",
        sql: steadySql,
        lane: () => ({ visibilityTimeoutSeconds: 4 }),
        endBeside: postgres.stop,
      },
    );
    const work = system.work({ everyMs: 1_000, deadLetters: true });
    const load = startLoad(system, ["calls", "books"], pageSizeOf(context));
    await until("the first jobs to be done", 60_000, async () => (await newestSuccess(system)) > 0n);
    const backMs: number[] = [];
    for (const [number, plan] of plansOf(context)) {
      if (number % reportEach === 0)
        context.log(`${number} crashes, ${load.acknowledged.size} jobs acknowledged, ${await system.openJobs()} open`);
      await letPass(plan.afterMs);
      const before = await newestSuccess(system);
      await postgres.away(async () => {}, plan.mode);
      const upMs = elapsedMs();
      await until("work to go on", 60_000, async () => (await newestSuccess(system).catch(() => before)) > before);
      backMs.push(elapsedMs() - upMs);
    }
    await load.stop();
    list.expect("all jobs end", await holds(system.untilEnded(180_000)));
    const gone = system.processes.oddEnds(({ name }) => name.startsWith("scheduler"));
    await work.stop();
    list.expectNone("no worker exits unless it was asked to", gone);
    await assess(list, system, load);
    list.figure(
      `${backMs.length} crashes, ${load.acknowledged.size} acknowledged, ${load.refused} calls refused and repeated, work went on ${(Math.max(...backMs) / 1_000).toFixed(1)} s after Postgres was back at the latest`,
    );
  },
};

interface Plan {
  readonly mode: "kill" | "immediate";
  readonly afterMs: number;
}

/** The size is the number of crashes; where minutes say that, it is the load between them. */
const pageSizeOf = ({ size, minutes }: ProofContext): number | undefined =>
  minutes === null ? undefined : Math.max(1, Math.round(10 * size));

/** As many as its size says, or until the minutes are over. */
function* plansOf({ seed, size, minutes }: ProofContext): Generator<[number: number, plan: Plan]> {
  const random = seeded(seed);
  const endMs = minutes === null ? null : elapsedMs() + minutes * 60_000;
  const most = endMs === null ? Math.max(2, Math.round(crashes * size)) : Infinity;
  for (let number = 1; number <= most && elapsedMs() < (endMs ?? Infinity); number += 1) {
    const mode = random() < 0.5 ? "kill" : "immediate";
    yield [number, { mode, afterMs: betweenMs.min + random() * betweenMs.more }];
  }
}

/** By the index of events: a million jobs cannot be counted between two crashes. */
async function newestSuccess({ rows }: System): Promise<bigint> {
  const [newest] = await rows<{ event: string }>(
    "select id::text as event from belfry.event where to_state = 'SUCCESS' order by id desc limit 1",
  );
  return BigInt(newest?.event ?? 0);
}

/** What was acknowledged is done; what is done twice was done by a try that Postgres never heard of. */
async function assess(list: Checklist, system: System, load: Load): Promise<void> {
  const all = await system.rows<EndedJob>(endedJobs);
  const jobs = new Map(all.map((job) => [job.key, job]));
  list.expect("jobs were acknowledged", load.acknowledged.size > 0);
  list.expectNone(
    "nothing acknowledged is lost",
    [...load.acknowledged]
      .filter((key) => jobs.get(key)?.state !== "SUCCESS")
      .map((key) => `${key} ${jobs.get(key)?.state} ${jobs.get(key)?.code}`),
  );
  const effects = Map.groupBy(
    system.ledger.read().filter(({ what }) => what === "effect"),
    ({ job }) => job,
  );
  const calls = all.filter(({ kind }) => kind === "calls");
  list.expectNone(
    "every call was made",
    calls.filter(({ id }) => !effects.has(id)).map(({ key }) => key),
  );
  const many = calls.filter(({ id, attempt }) => (effects.get(id)?.length ?? 0) > attempt);
  list.expectNone("no try made its call twice", many, ({ key }) => key);
  list.expectNone(
    "a call has one idempotency key",
    [...effects].filter(([, lines]) => new Set(lines.map(({ key }) => key)).size > 1).map(([id]) => id),
  );
  const booked = await system.rows<{ n: number; times: number }>(
    "select n, count(*)::int as times from proof.booked group by n",
  );
  const books = all.filter(({ kind }) => kind === "books");
  list.expectNone(
    "a booking inside the database happened once",
    booked.filter(({ times }) => times > 1).map(({ n }) => String(n)),
  );
  list.expect("every booking happened", booked.length === books.length, `${booked.length} of ${books.length}`);
  const lost = await system.count("belfry.attempt where outcome <> 'SUCCESS'");
  const repeated = [...effects.values()].filter((lines) => lines.length > 1).length;
  list.figure(`${repeated} calls made again with the same key, ${lost} tries lost`);
}

interface EndedJob {
  readonly id: string;
  readonly kind: string;
  readonly key: string;
  readonly state: string;
  readonly attempt: number;
  readonly code: string | null;
}

/** Not the whole tables: hours of load leave millions of events. */
const endedJobs = "select id::text, kind, key, state, attempt, error_code as code from belfry.job";
