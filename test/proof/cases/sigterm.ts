import { assessSuccess, judge, workerPid } from "../judge.ts";
import { numbered } from "../load.ts";
import type { Checklist, Proof } from "../proof.ts";
import { startInstalled, type System } from "../system.ts";
import type { Tables } from "../tables.ts";
import { elapsedMs, until } from "../until.ts";

const exitMsMax = 20_000;
const each = 3;
const kinds = ["finishes", "obeys", "ignores"] as const;

/** A worker and a scheduler are asked to stop in the middle of their work. */
export const sigterm: Proof = {
  name: "sigterm",
  about: "SIGTERM mid-job: it finishes or is released and costs no failure; exit 0 within 20 s",
  guards: ["release"],
  async run(context, list) {
    const system = await startInstalled(context, {
      app: "stopping",
      lane: () => ({ visibilityTimeoutSeconds: 6, concurrency: 1 }),
    });
    for (const kind of kinds) await system.enqueue(kind, numbered(each));
    const fleet = system.fleet();
    await until("all handlers to run", 30_000, () => system.ledger.read().length === kinds.length * each);
    const [pid = -1] = fleet.pids();
    const askedMs = elapsedMs();
    process.kill(pid, "SIGTERM");
    const end = await until("the worker to end", 60_000, () => system.processes.endOf(pid));
    const tookMs = end.atMs - askedMs;
    list.expect("the worker ends with 0", end.code === 0, end.signal ?? String(end.code));
    list.expectAtMost("the worker ends within 20 s", tookMs, exitMsMax, " ms");
    list.figure(`worker gone after ${(tookMs / 1_000).toFixed(1)} s`);
    await system.untilEnded(60_000);
    await fleet.stop();
    assess(list, await judge(list, system), pid);
    await stopScheduler(list, system);
  },
};

/** The next task finds the lock free, and need not wait for a lease to pass. */
async function stopScheduler(list: Checklist, system: System): Promise<void> {
  const first = system.scheduler();
  await installed(system, first.pid);
  const askedMs = elapsedMs();
  const end = await first.stop(30_000);
  list.expect("the scheduler ends with 0", end.code === 0, end.signal ?? String(end.code));
  list.expectAtMost("the scheduler ends within 20 s", end.atMs - askedMs, exitMsMax, " ms");
  list.expectIs("the scheduler says that it is done", first.report()?.outcome, "done");
  const startedMs = elapsedMs();
  const next = system.scheduler();
  const atMs = await installed(system, next.pid);
  list.expect(
    "the next scheduler has the lock at once",
    atMs - startedMs <= 10_000,
    `${(atMs - startedMs).toFixed(0)} ms`,
  );
  list.figure(
    `scheduler gone after ${((end.atMs - askedMs) / 1_000).toFixed(1)} s, the next one at work ${((atMs - startedMs) / 1_000).toFixed(1)} s after its start`,
  );
  await next.stop();
}

const installed = (system: System, pid: number): Promise<number> =>
  until(
    `scheduler ${pid} to install its token`,
    30_000,
    () => system.processes.histories.find((line) => line.history === "fence" && line.pid === pid)?.atMs,
  );

function assess(list: Checklist, { jobs, attempts }: Tables, pid: number): void {
  assessSuccess(list, jobs);
  list.expectNone(
    "no job is charged a failure",
    jobs.filter((job) => job.failures > 0).map((job) => job.kind),
  );
  const first = new Map(attempts.filter((row) => row.attempt === 1).map((row) => [row.jobId, row]));
  const seen = (kind: string, outcome: string): number =>
    jobs.filter(
      (job) =>
        job.kind === kind &&
        first.get(job.id)?.outcome === outcome &&
        workerPid(first.get(job.id)?.worker ?? null) === pid,
    ).length;
  list.expectIs(
    "those that finish in time are finished by the worker that was asked to stop",
    seen("finishes", "SUCCESS"),
    each,
  );
  list.expectIs("those that obey are released", seen("obeys", "RELEASED"), each);
  list.expectIs("those that ignore their signal are released", seen("ignores", "RELEASED"), each);
  const interrupted = jobs.filter((job) => job.kind !== "finishes" && job.interruptions !== 1);
  list.expectNone("the released ones count one interruption", interrupted, (job) => `${job.kind} ${job.interruptions}`);
}
