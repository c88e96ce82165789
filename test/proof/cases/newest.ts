import { cancelJobs } from "../../../src/insight/cancel-and-retry.ts";
import { newerRun, resumeRun } from "../../../src/insight/run-control.ts";
import type { JobId, RunId } from "../../../src/machine/job.ts";
import { startHunted } from "../hunted.ts";
import { newestVariable } from "../points.ts";
import type { Checklist, Proof } from "../proof.ts";
import type { System } from "../system.ts";
import { until } from "../until.ts";

const runsOfAll = 80;
const endMs = 280_000;
/** The workers that start first run the release before. */
const oldWorkers = 6;

/** A release that cannot bill is replaced while its runs wait, run and fail, two callers at once let each go on by the next one. */
export const newestProof: Proof = {
  name: "newest",
  about:
    "runs that go on by the next version of their graph, by two callers at once, under kills of old and new workers: each task once",
  guards: ["unknown-kind"],
  async run(context, list) {
    process.env[newestVariable] = "1";
    const hunted = await startHunted(context, {
      app: "newest",
      chaos: true,
      killEveryMs: 1_500,
      schedulerEveryMs: 15_000,
      envOf: (ordinal): Readonly<Record<string, string>> => ({ [newestVariable]: ordinal > oldWorkers ? "1" : "0" }),
    }).finally(() => delete process.env[newestVariable]);
    const { system } = hunted;
    const count = Math.max(6, Math.round(runsOfAll * context.size));
    const items = Array.from({ length: count }, (_, n) => ({ key: String(n), payload: { n } }));
    await system.enqueue("day", items);
    const renewed = await renewAll(system, count, hunted.random);
    await hunted.judged(list);
    await assess(list, system, { count, refused: renewed.refused });
    list.expect("runs were renewed", renewed.open + renewed.failed > 0, renewed.open + renewed.failed);
    list.figure(
      `${count} runs, ${renewed.open} renewed while they waited, ${renewed.failed} when they had failed, ${renewed.refused} refused, ${hunted.seen()}`,
    );
  },
};

interface Renewed {
  readonly open: number;
  readonly failed: number;
  readonly refused: number;
}

interface Seen {
  readonly id: RunId;
  readonly kind: string;
  readonly key: string;
  readonly input: unknown;
  readonly state: string;
  readonly version: number;
}

/** What a new worker has closed before its run was renewed stays so. */
const closed = "edges of close: was bill, is bill, check";

/** Each run that has failed, and now and then one that has not. */
async function renewAll(system: System, count: number, random: () => number): Promise<Renewed> {
  const { ports, registry } = system.runtime;
  const renewed = { open: 0, failed: 0 };
  const refused = new Set<RunId>();
  await until("all runs to end well", endMs, async () => {
    const rows = await system.rows<Seen>("select id, kind, key, input, state, version from belfry.run order by id");
    await cancelUnknown(system);
    for (const run of rows) {
      if (
        run.state === "DONE" ||
        refused.has(run.id) ||
        (run.state === "RUNNING" && (run.version === 2 || random() > 0.5))
      )
        continue;
      const newer = (await newerRun(ports, registry, run)) ?? undefined;
      const answers = await Promise.all(["ada", "bob"].map((caller) => resumeRun(ports, run.id, { caller, newer })));
      if (run.state === "FAILED" && answers.every(({ differences }) => differences?.includes(closed) === true))
        refused.add(run.id);
      if (answers.some(({ ids }) => ids.length > 0)) renewed[run.state === "FAILED" ? "failed" : "open"] += 1;
    }
    return rows.filter(({ state }) => state === "DONE").length + refused.size === count;
  });
  return { ...renewed, refused: refused.size };
}

/** A new worker can end what comes before a task that only the old release had, so that task waits for a worker that does not come. */
async function cancelUnknown({ rows, runtime: { ports, registry } }: System): Promise<void> {
  const unknown = await rows<{ id: JobId }>(
    "select id from belfry.job where task = 'report' and error_code = 'UNKNOWN_KIND' and finished_at is null",
  );
  await cancelJobs(
    ports,
    registry,
    unknown.map(({ id }) => id),
  );
}

interface Task {
  readonly run: string;
  readonly task: string;
  readonly state: string;
  readonly jobs: number;
  readonly wins: number;
}

async function assess(
  list: Checklist,
  { rows, count: countOf, ledger }: System,
  { count, refused }: { readonly count: number; readonly refused: number },
): Promise<void> {
  const newer = await countOf("belfry.run where state = 'DONE' and version = 2");
  list.expect(
    "most runs are DONE by the next version, all but those that closed by the first",
    newer === count - refused && newer > refused,
    newer,
  );
  const tasks = await rows<Task>(`
    select j.run_id as run, j.task, min(j.state::text) as state, count(distinct j.id)::int as jobs,
      count(m.job_id)::int as wins
    from belfry.job j join belfry.run r on r.id = j.run_id and r.version = 2
    left join belfry.move m on m.job_id = j.id and m.to_state = 'SUCCESS' group by 1, 2 order by 1, 2`);
  const shown = (wrong: readonly Task[]): readonly string[] => wrong.map((task) => JSON.stringify(task));
  const names = new Set(["list", "check", "bill", "close"]);
  const ofNewer = tasks.filter(({ task }) => names.has(task));
  list.expectIs("each run has each task of the next version", ofNewer.length, newer * names.size);
  list.expectNone(
    "each task is one job, and succeeded once",
    shown(ofNewer.filter(({ jobs, wins }) => jobs !== 1 || wins !== 1)),
  );
  list.expectNone(
    "what the next version does not have is skipped",
    shown(tasks.filter((task) => !names.has(task.task) && task.state !== "SKIPPED")),
  );
  const unknown = await rows<{ job: string }>(
    "select job_id as job from belfry.history where to_state = 'FAILED' and error_code = 'UNKNOWN_KIND'",
  );
  list.expectNone("old workers leave new tasks to new ones", unknown, ({ job }) => job);
  list.expectNone(
    "no report is made",
    ledger.read().flatMap(({ note }) => (note === "report" ? [note] : [])),
  );
}
