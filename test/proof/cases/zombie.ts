import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { judge, workerPid } from "../judge.ts";
import type { Checklist, Proof } from "../proof.ts";
import { startInstalled, type System } from "../system.ts";
import { isStopped } from "../stopped.ts";
import { letPass, until } from "../until.ts";

const sql = `
create schema proof;
create table proof.note (n int not null, job_id bigint not null, attempt int not null);`;

interface Plan {
  readonly kind: "outside" | "inside";
  readonly asleep: "before" | "after";
  /** When the zombie goes on: while the next try runs, or after it has completed the job. */
  readonly wakes: "before" | "afterwards";
}

const plans: readonly Plan[] = (["outside", "inside"] as const).flatMap((kind) =>
  (["before", "after"] as const).flatMap((asleep) =>
    (["before", "afterwards"] as const).map((wakes) => ({ kind, asleep, wakes })),
  ),
);

/** A worker sleeps past its lease and goes on as if nothing had happened. */
export const zombie: Proof = {
  name: "zombie",
  about: "SIGSTOP of a worker past its lease, then SIGCONT: the new try completes, the old one writes nothing",
  guards: ["attempt"],
  async run(context, list) {
    const system = await startInstalled(context, {
      app: "zombie",
      sql,
      lane: () => ({ visibilityTimeoutSeconds: 4, batchSize: 1, concurrency: 3 }),
    });
    const work = system.work();
    const zombies = new Map<string, number>();
    for (const [n, plan] of plans.entries()) {
      const gate = plan.wakes === "before" ? join(context.folder, `gate-${n}`) : null;
      const { job, pid } = await haunt(system, { n, plan, gate });
      zombies.set(job, pid);
      context.log(`${plan.kind}, asleep ${plan.asleep} its effect, woken ${plan.wakes}: done`);
    }
    await system.untilEnded(30_000);
    await work.stop();
    await assess(list, system, zombies);
  },
};

async function haunt(
  system: System,
  { n, plan, gate }: { n: number; plan: Plan; gate: string | null },
): Promise<{ job: string; pid: number }> {
  const [answer] = await system.enqueue(plan.kind, [{ payload: { n, asleep: plan.asleep, gate } }]);
  const job = String(answer?.id);
  const pid = await until("a worker to fall asleep", 30_000, () => {
    const claim = system.processes.histories.find((line) => line.history === "claimed" && line.job === job);
    return claim !== undefined && isStopped(claim.pid) ? claim.pid : null;
  });
  const wanted = gate === null ? "SUCCESS 2" : "RUNNING 2";
  await until(`the next try to be ${wanted}`, 60_000, async () => (await stateOf(system, job)) === wanted);
  process.kill(pid, "SIGCONT");
  // How long the woken zombie goes on with what it thinks is its own.
  await letPass(1_500);
  if (gate !== null) writeFileSync(gate, "");
  await until("a try to complete the job", 60_000, async () => (await stateOf(system, job)).startsWith("SUCCESS"));
  return { job, pid };
}

/** With the number of its try. */
const stateOf = async ({ row }: System, job: string): Promise<string> =>
  (await row<{ is: string }>("select state || ' ' || attempt as is from belfry.job where id = $1", [job])).is;

async function assess(list: Checklist, system: System, zombies: ReadonlyMap<string, number>): Promise<void> {
  const notes = await system.rows<{ jobId: string; attempt: number }>(
    `select job_id::text as "jobId", attempt from proof.note`,
  );
  const tables = await judge(list, system, {
    ambiguous: new Set(zombies.keys()),
    transactional: notes.map(({ jobId, attempt }) => ({ key: `${jobId}:note`, jobId, attempt })),
    transactionalKinds: ["inside"],
    childrenOf: new Map([
      ["outside", 1],
      ["inside", 1],
    ]),
  });
  const haunted = tables.jobs.filter((job) => zombies.has(job.id));
  list.expectNone(
    "every job is completed by its second try",
    haunted
      .filter((job) => job.state !== "SUCCESS" || job.attempt !== 2)
      .map((job) => `${job.kind} ${job.state} ${job.attempt}`),
  );
  const winners = tables.attempts.filter(
    (row) => row.outcome === "SUCCESS" && zombies.get(row.jobId) === workerPid(row.worker),
  );
  list.expectNone("no zombie completes anything of its old job", winners, (row) => `${row.jobId}/${row.attempt}`);
  const answers = system.processes.histories.flatMap((line) =>
    line.history === "settled" && line.attempt === 1 && zombies.get(line.job) === line.pid ? [line] : [],
  );
  list.expectNone(
    "what a zombie is answered is: refused",
    answers.filter((line) => line.written).map((line) => line.job),
  );
  list.expect("zombies tried", answers.length > 0, answers.length);
  list.expectNone(
    "what a zombie wrote in its transaction is gone",
    notes.filter((row) => row.attempt === 1).map((row) => row.jobId),
  );
  const children = tables.jobs.filter((job) => job.kind === "child");
  list.expectNone(
    "no child of a zombie",
    children.filter((job) => job.key?.endsWith(":1") === true).map((job) => String(job.key)),
  );
  list.figure(`${zombies.size} zombies, ${answers.length} settles refused, the others knew before they asked`);
}
