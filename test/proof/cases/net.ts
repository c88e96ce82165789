import { steadySql } from "../app/steady.ts";
import { assessSuccess } from "../judge.ts";
import { startLoad } from "../load.ts";
import { type Checklist, type Proof, type ProofContext, seeded } from "../proof.ts";
import { startInstalled, type System } from "../system.ts";
import { readTables, type Tables } from "../tables.ts";
import { elapsedMs, holds, letPass, until } from "../until.ts";
import { startWire, type Wire } from "../wire.ts";

const roundTripMs = 500;
const jitterMs = 250;
const slowMs = 30_000;
const holeMs = 30_000;
const backMsMax = 5_000;
const longJobs = 10;

/** The network between the processes and Postgres is slow, and then is not there at all. */
export const net: Proof = {
  name: "net",
  about: "500 ms +- 250 to Postgres, then a black hole of 30 s: no false stale, pools back in 5 s, no unhandled error",
  guards: ["heartbeat", "timeouts"],
  async run(context, list) {
    const wire = await startWire(context.postgresUrl, seeded(context.seed));
    const system = await startInstalled(context, {
      app: "steady",
      postgresPort: wire.port,
      sql: steadySql,
      lane: () => ({ visibilityTimeoutSeconds: 4 }),
      endBeside: () => wire.stop(),
    });
    const work = system.work({ everyMs: 1_000, deadLetters: true });
    await slow(list, system, wire, context);
    await hole(list, system, wire, context);
    list.expect("all jobs end after the black hole", await drained(system));
    // A scheduler that finds no database says so with 1; a worker ends with 0 when it was asked to.
    const ended = system.processes.oddEnds(({ name, code }) => name === "scheduler" && code === 1);
    await work.stop();
    list.expectNone("no process ends", ended);
    list.expectNone("no unhandled error", unhandled(system));
    assessSuccess(list, (await readTables(system.pool)).jobs);
  },
};

/** Jobs that last longer than their lease are kept by heartbeats that take half a second. */
async function slow(list: Checklist, system: System, wire: Wire, { size }: ProofContext): Promise<void> {
  await system.enqueue("calls", [{ payload: { n: 0 }, key: "calls-0" }]);
  await system.untilEnded(60_000);
  wire.delay(roundTripMs / 2, jitterMs / 2);
  const load = startLoad(system, ["calls", "books"]);
  const long = Array.from({ length: longJobs }, (_, n) => ({ payload: { n: n + 1 }, key: `lasts-${n + 1}` }));
  await system.enqueue("lasts", long);
  await letPass(slowMs * size);
  await load.stop();
  list.expect("all jobs end on a slow network", await drained(system));
  wire.delay(0, 0);
  const tables = await readTables(system.pool);
  list.expectNone("nothing is taken for stale because the network is slow", stale(tables));
  list.expect("the network was slow", tables.jobs.length > longJobs, tables.jobs.length);
  list.figure(`${tables.jobs.length} jobs at ${roundTripMs} ms, ${load.refused} calls refused`);
}

const stale = ({ attempts }: Tables): readonly string[] =>
  attempts
    .filter(({ outcome, errorCode }) => outcome !== "SUCCESS" && errorCode === "WORKER_LOST")
    .map(({ jobId, attempt }) => `${jobId}/${attempt}`);

async function hole(list: Checklist, system: System, wire: Wire, { size }: ProofContext): Promise<void> {
  const load = startLoad(system, ["calls", "books"]);
  await letPass(3_000);
  wire.blackHole(true);
  await letPass(holeMs * Math.max(size, 0.9));
  wire.blackHole(false);
  const endedMs = elapsedMs();
  const ended = (await system.row<{ now: string }>("select now()::text as now")).now;
  await until("the pool to be back", 60_000, () => holds(system.runtime.ports.store.now()));
  const poolMs = elapsedMs() - endedMs;
  for (const kind of ["calls", "books"]) {
    const isDone = until(`a job of ${kind} to be done`, 60_000, async () => (await doneSince(system, kind, ended)) > 0);
    list.expect(`${kind} are done again`, await holds(isDone));
  }
  const workMs = elapsedMs() - endedMs;
  await letPass(3_000);
  await load.stop();
  list.expect("the pool is back within 5 s", poolMs <= backMsMax, `${(poolMs / 1_000).toFixed(1)} s`);
  list.expect("workers work again within 5 s", workMs <= backMsMax, `${(workMs / 1_000).toFixed(1)} s`);
  list.expect("the black hole was felt", load.refused > 0, load.refused);
  const jobs = new Map((await readTables(system.pool)).jobs.map((job) => [job.key ?? "", job]));
  list.expectNone(
    "nothing acknowledged is lost",
    [...load.acknowledged].filter((key) => !jobs.has(key)),
  );
  list.figure(
    `pool back after ${(poolMs / 1_000).toFixed(1)} s, work after ${(workMs / 1_000).toFixed(1)} s, ${load.refused} calls refused, ${wire.made} connections made`,
  );
}

/** Some 300 jobs wait at the end of the slow stretch, half of them with a transaction of their own: four round trips each. */
const drained = (system: System): Promise<boolean> => holds(system.untilEnded(300_000));

const doneSince = (system: System, kind: string, since: string): Promise<number> =>
  system.count("belfry.job where kind = $1 and finished_at > $2::timestamptz", [kind, since]);

/** What Node prints when an error met no listener. */
const unhandled = ({ processes }: System): readonly string[] =>
  processes.ends.flatMap(({ pid }) =>
    processes.plainLines(pid).filter((line) => /Unhandled|uncaught|node:internal.*throw/i.test(line)),
  );
