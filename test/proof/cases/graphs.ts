import type { Fleet } from "../fleet.ts";
import { fateOf } from "../fates.ts";
import { graphFiles, readGraphFile, type RecordedTask } from "../graph-files.ts";
import { judge } from "../judge.ts";
import { killOne } from "../killer.ts";
import { type Checklist, type Proof, type ProofContext, seeded } from "../proof.ts";
import { startInstalled, type System } from "../system.ts";
import { until } from "../until.ts";

const scaleDefault = 3_600;
const killEveryMs = 4_000;
const killsMax = 12;

/** Recorded workflows, run as they are, with tasks that fail, branches that are not taken and workers that die. */
export const graphs: Proof = {
  name: "graphs",
  about: "graphs from a folder (--dir), with failures, skips and worker kills by seed: every end as an oracle says",
  guards: ["counters", "conditions"],
  async run(context, list) {
    if (context.dir === null) throw new Error("the case graphs reads a folder: give it with --dir FOLDER");
    process.env["BELFRY_PROOF_DIR"] = context.dir;
    const files = graphFiles(context.dir);
    const system = await startInstalled(context, { app: "graphs", lane: () => ({ visibilityTimeoutSeconds: 4 }) });
    const scale = context.scale ?? scaleDefault;
    const items = files.map((file, n) => ({ key: file, payload: { n, file, seed: context.seed, scale } }));
    await system.enqueue("workflow", items);
    const { fleet, stop } = system.work({ everyMs: 1_000, deadLetters: true });
    const killed = await untilClosed(system, fleet, files.length, seeded(context.seed));
    await stop();
    await judge(list, system);
    const figures = { tasks: 0, edges: 0 };
    for (const file of files) {
      const tasks = readGraphFile(context.dir, file);
      figures.tasks += tasks.length;
      figures.edges += tasks.reduce((sum, task) => sum + task.after.length, 0);
      await compare(list, system, file, tasks, context);
    }
    await inOrder(list, system, figures.edges);
    list.expect("workers were killed", killed > 0, killed);
    list.figure(`${files.length} graphs, ${figures.tasks} tasks, ${figures.edges} edges, ${killed} workers killed`);
  },
};

async function untilClosed(system: System, fleet: Fleet, runs: number, random: () => number): Promise<number> {
  let killed = 0;
  let nextKill = performance.now() + killEveryMs;
  await until("all runs to end", 560_000, async () => {
    if (performance.now() > nextKill && killed < killsMax) {
      nextKill = performance.now() + killEveryMs;
      killed += await killOne(system, fleet.pids("graphs"), random);
    }
    return (await system.count("belfry.run where finished_at is not null")) === runs;
  });
  return killed;
}

interface Ended {
  readonly task: string;
  readonly state: string;
  readonly not_taken: boolean;
}

async function compare(
  list: Checklist,
  system: System,
  file: string,
  tasks: readonly RecordedTask[],
  context: ProofContext,
): Promise<void> {
  const rows = await system.rows<Ended>(
    `select j.task, j.state::text, j.not_taken from belfry.run r join belfry.job j on j.run_id = r.id
     where r.kind = 'workflow' and r.key = $1`,
    [file],
  );
  const expected = oracle(tasks, (task) => fateOf(context.seed, file, task));
  const seen = new Map(
    rows.map((row) => [row.task, row.state === "SKIPPED" && row.not_taken ? "NOT-TAKEN" : row.state]),
  );
  list.expectNone(
    `${file}: every task ends as the oracle says`,
    tasks.flatMap(({ name }) =>
      seen.get(name) === expected.get(name) ? [] : [`${name} is ${seen.get(name)}, not ${expected.get(name)}`],
    ),
  );
  list.expectIs(`${file}: one job for each task`, rows.length, tasks.length);
  const run = await system.row<{ state: string; ok: number; skipped: number; failed: number }>(
    "select state::text, ok, skipped, failed from belfry.run_progress where kind = 'workflow' and key = $1",
    [file],
  );
  const count = (...states: string[]): number => [...expected.values()].filter((one) => states.includes(one)).length;
  const wanted = { ok: count("SUCCESS"), skipped: count("SKIPPED", "NOT-TAKEN"), failed: count("FAILED") };
  const state = wanted.failed > 0 ? "FAILED" : "DONE";
  const shown = JSON.stringify(run);
  list.expectIs(`${file}: the run's figures`, shown, JSON.stringify({ state, ...wanted }));
}

/** Worked out from the parents alone, each task after its parents, with nothing of the system under test. */
function oracle(tasks: readonly RecordedTask[], fate: (task: string) => string): ReadonlyMap<string, string> {
  const byName = new Map(tasks.map((task) => [task.name, task]));
  const ends = new Map<string, string>();
  const endOf = (name: string): string => {
    const known = ends.get(name);
    if (known !== undefined) return known;
    const parents = (byName.get(name)?.after ?? []).map(endOf);
    const end = parents.some((parent) => parent === "FAILED" || parent === "SKIPPED")
      ? "SKIPPED"
      : parents.length > 0 && parents.every((parent) => parent === "NOT-TAKEN")
        ? "NOT-TAKEN"
        : ownEnd(fate(name));
    ends.set(name, end);
    return end;
  };
  for (const { name } of tasks) endOf(name);
  return ends;
}

function ownEnd(fate: string): string {
  if (fate === "not-taken") return "NOT-TAKEN";
  return fate === "fail" ? "FAILED" : "SUCCESS";
}

/** By the database's commit times, and by what the target saw: no task starts before its last predecessor is written. */
async function inOrder(list: Checklist, system: System, edges: number): Promise<void> {
  const early = await system.rows<{ task: string; before: string }>(`
    with ended as (
      select job_id, max(pg_xact_commit_timestamp(xid::xid)) as at from belfry.move where to_state >= 'SUCCESS' group by job_id
    ), started as (
      select job_id, min(at) as at from belfry.move where to_state = 'RUNNING' group by job_id
    )
    select t.task, p.task as before
    from belfry.edge e join started s on s.job_id = e.to_id join ended d on d.job_id = e.from_id
    join belfry.job t on t.id = e.to_id join belfry.job p on p.id = e.from_id
    where s.at < d.at`);
  list.expectNone(
    "a task starts after its last predecessor was committed",
    early,
    ({ task, before }) => `${task} before ${before}`,
  );
  const known = await system.rows<{ from_id: string; to_id: string }>(
    "select from_id::text, to_id::text from belfry.edge",
  );
  list.expectIs("all edges were there", known.length, edges);
  const starts = new Map<string, number>();
  const stops = new Map<string, number>();
  for (const { what, job, n } of system.ledger.read()) {
    if (what === "start" && !starts.has(job)) starts.set(job, n);
    if (what === "stop" && !stops.has(job)) stops.set(job, n);
  }
  list.expectNone(
    "a task starts after its predecessors stopped, as the target saw it",
    known.flatMap(({ from_id, to_id }) =>
      (starts.get(to_id) ?? Infinity) < (stops.get(from_id) ?? -Infinity) ? [`${to_id} before ${from_id}`] : [],
    ),
  );
  list.expect("tasks reported to the target when they started", starts.size > 0, starts.size);
}
