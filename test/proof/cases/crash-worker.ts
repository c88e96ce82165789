import { ambiguousJobs, judge } from "../judge.ts";
import { numbered } from "../load.ts";
import { points, type WorkerPoint } from "../points.ts";
import type { Checklist, Proof, ProofContext } from "../proof.ts";
import { startInstalled, type System } from "../system.ts";
import { readTables, type Tables } from "../tables.ts";
import { until } from "../until.ts";

const promiseMs = 60_000;
const quickVisibilitySeconds = 4;
const lanesAtOnce = 4;

/** A worker dies at one place, at its first, second or third passing, alone or in the middle of a batch. */
export const crashWorker: Proof = {
  name: "crash-worker",
  about: "kill -9 of a worker at six places; --defaults for the 60-second promise",
  guards: ["key"],
  async run(context, list) {
    const system = await startInstalled(context, {
      app: "crash-worker",
      ...(context.defaults ? {} : { lane: () => ({ visibilityTimeoutSeconds: quickVisibilitySeconds }) }),
    });
    const wakes = system.wakes({ everyMs: context.defaults ? 60_000 : 0 });
    const kills = await inTurn(plansOf(context), context.defaults ? 12 : lanesAtOnce, (plan) =>
      crash(system, plan, context),
    );
    await wakes.stop();
    const ambiguous = ambiguousJobs(await readTables(system.pool), system.processes.killed());
    const tables = await judge(list, system, { ambiguous });
    for (const kill of kills) assess(list, kill, tables, system, context.defaults);
    report(list, kills);
  },
};

interface Plan {
  readonly mode: "alone" | "batch";
  readonly point: WorkerPoint;
  readonly ordinals: readonly number[];
}

interface Kill {
  readonly mode: Plan["mode"];
  readonly point: WorkerPoint;
  readonly ordinal: number;
  readonly pid: number;
  readonly at: number;
  readonly jobs: readonly string[];
  /** Filled by `assess`: from the kill to the next start of each job the dead worker had. */
  againMs: readonly number[];
}

function plansOf({ defaults }: ProofContext): readonly Plan[] {
  const ordinals = defaults ? [1] : [1, 2, 3];
  return (["alone", "batch"] as const).flatMap((mode) => points.worker.map((point) => ({ mode, point, ordinals })));
}

/** At most `atOnce` lanes at a time: two cores, and each lane starts processes. */
async function inTurn(
  plans: readonly Plan[],
  atOnce: number,
  run: (plan: Plan) => Promise<readonly Kill[]>,
): Promise<readonly Kill[]> {
  const waiting = [...plans];
  const kills: Kill[] = [];
  const take = async (): Promise<void> => {
    for (let plan = waiting.shift(); plan !== undefined; plan = waiting.shift()) kills.push(...(await run(plan)));
  };
  await Promise.all(Array.from({ length: atOnce }, take));
  return kills;
}

async function crash(system: System, plan: Plan, context: ProofContext): Promise<readonly Kill[]> {
  const kills: Kill[] = [];
  for (const ordinal of plan.ordinals) kills.push(await crashOnce(system, plan, ordinal, context));
  return kills;
}

async function crashOnce(system: System, { mode, point }: Plan, ordinal: number, context: ProofContext): Promise<Kill> {
  const kind = `${mode}.${point}`;
  const lane = kind.replaceAll(".", "-");
  const items = numbered(mode === "alone" ? 6 : 40);
  const jobs: string[] = [];
  const add = async (): Promise<void> => {
    jobs.push(...(await system.enqueue(kind, items)).map(({ id }) => String(id)));
  };
  const areEnded = async (): Promise<boolean> =>
    (await system.count("belfry.job where id = any($1) and state < 'SUCCESS'", [jobs])) === 0;
  await add();
  const fleet = system.fleet({
    lanes: [lane],
    envOf: (started) => (started === 1 ? { BELFRY_CRASH_POINT: `${point}:${ordinal}` } : {}),
  });
  const end = await until(`a worker of ${lane} to die at ${point}:${ordinal}`, 60_000, async () => {
    const [pid] = fleet.started(lane);
    const ended = pid === undefined ? undefined : system.processes.endOf(pid);
    // The lane has two workers, and the other one may have taken all that was left before this one came to its place.
    if (ended === undefined && (await areEnded())) await add();
    return ended;
  });
  if (end.signal !== "SIGKILL")
    throw new Error(`the worker of ${lane} ended with ${end.signal ?? end.code}, not by its crash point`);
  await until(`all jobs of ${lane} to end`, context.defaults ? 480_000 : 60_000, areEnded);
  await queueEmpty(system, lane);
  await fleet.stop();
  context.log(`${kind}:${ordinal} done`);
  return { mode, point, ordinal, pid: end.pid, at: end.at, jobs, againMs: [] };
}

/** The last messages are deleted a moment after the last job has ended. */
async function queueEmpty(system: System, lane: string): Promise<void> {
  if (lane.startsWith("batch")) return;
  await until(`the queue of ${lane} to be empty`, 30_000, async () => {
    const { visible } = await system.runtime.ports.queue.depth(lane);
    return visible === 0;
  });
}

/** Where the effect may already be out while nothing says so. */
const windows: Readonly<Record<WorkerPoint, "never" | "batch" | "always">> = {
  received: "never",
  claimed: "never",
  "effect.before": "batch",
  "effect.after": "always",
  settled: "never",
  acked: "never",
};

function assess(list: Checklist, kill: Kill, tables: Tables, system: System, defaults: boolean): void {
  const { mode, point, ordinal, pid } = kill;
  const what = `${mode}.${point}:${ordinal}`;
  const rows = tables.jobs.filter((job) => kill.jobs.includes(job.id));
  list.expectNone(
    `${what}: every job SUCCESS`,
    rows.filter((job) => job.state !== "SUCCESS").map((job) => `${job.id} ${job.state}`),
  );
  const lost = ambiguousJobs(tables, new Set([pid]));
  const effects = Map.groupBy(
    system.ledger.read().filter((record) => record.what === "effect" && kill.jobs.includes(record.job)),
    (record) => record.job,
  );
  const repeated = [...effects].filter(([, records]) => records.length > 1).map(([job]) => job);
  if (windows[point] === "never" || (windows[point] === "batch" && mode === "alone")) {
    list.expectNone(`${what}: no effect repeats`, repeated);
  } else {
    list.expectNone(
      `${what}: only what the dead worker had repeats`,
      repeated.filter((job) => !lost.has(job)),
    );
  }
  if (point === "effect.after" && mode === "alone")
    list.expectIs(`${what}: the effect of the killed job repeats`, repeated.length, 1);
  if (mode === "batch")
    list.expectNone(
      `${what}: no job is charged a failure`,
      rows.filter((job) => job.failures > 0).map((job) => job.id),
    );
  kill.againMs = startsAfter(kill, tables, lost);
  if (defaults && kill.againMs.length > 0) {
    list.expectAtMost(`${what}: runs again within 60 s of the kill`, Math.max(...kill.againMs), promiseMs, " ms");
  }
}

/** Milliseconds from the kill to the next start of what the dead worker had claimed, or had only received. */
function startsAfter(kill: Kill, tables: Tables, lost: ReadonlySet<string>): readonly number[] {
  const starts = tables.events.filter((event) => event.to === "RUNNING" && kill.jobs.includes(event.jobId));
  if (kill.point !== "received") {
    return starts.filter((event) => lost.has(event.jobId) && event.at >= kill.at).map((event) => event.at - kill.at);
  }
  const last = Math.max(...starts.map((event) => event.at));
  return [last - kill.at];
}

function report(list: Checklist, kills: readonly Kill[]): void {
  for (const point of points.worker) {
    const times = kills.filter((kill) => kill.point === point).flatMap((kill) => kill.againMs);
    if (times.length === 0) continue;
    const why =
      point === "received"
        ? " (never claimed: until a pass finds its message gone, or until the queue's visibility timeout)"
        : "";
    list.figure(`${point}: again after ${(Math.max(...times) / 1_000).toFixed(1)} s at most${why}`);
  }
}
