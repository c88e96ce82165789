import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import type { SchedulerProcess } from "../../test/proof/scheduler-process.ts";
import { startSystem, type System } from "../../test/proof/system.ts";
import { letPass, until } from "../../test/proof/until.ts";
import type { Ground } from "../ground.ts";
import { type Figure, measured, quantile } from "../measure.ts";
import { firesAMinute } from "../ontime-app.ts";

const minuteMs = 60_000;
const wakeEveryMs = minuteMs;
/** A killed task has lived this long: it holds the lock, and has planned ahead. */
const killAfterMs = 20_000;
const settleMs = 10_000;
const lateMsMax = 1_000;

/**
 * Every fire of some minutes, judged by the ledger of an outside target and by the rows: real processes, a wake a minute,
 * and every second scheduler task is killed in the middle of its life.
 */
export async function ontime(ground: Ground, { minutes }: { readonly minutes: number }): Promise<readonly Figure[]> {
  const database = await ground.database();
  const folder = mkdtempSync(join(tmpdir(), "belfry-ontime-"));
  const system = await startSystem(
    { folder, postgresUrl: database.url },
    {
      app: "scheduled",
      // Nothing is recorded or patched here, and no settings but those of a stage.
      env: {
        NODE_OPTIONS: "",
        BELFRY_APPS: new URL("../ontime-app.ts", import.meta.url).href,
        BELFRY_LOG_LEVEL: "error",
      },
    },
  );
  try {
    await system.install();
    const fleet = system.fleet();
    const wakes = startKilledWakes(system);
    await until("the first pass to plan ahead", minuteMs, () => planned(system));
    await letPass(settleMs);
    const { rows } = await system.pool.query<{ now: number }>("select belfry.ms(belfry.now()) as now");
    const from = rows[0]?.now ?? 0;
    const load = await watchLoad(minutes * minuteMs);
    await letPass(settleMs);
    const killed = await wakes.stop();
    const figures = await judge(system, { from, until: from + minutes * minuteMs }, minutes);
    await fleet.stop();
    process.stderr.write(
      `ontime: ${killed} scheduler tasks killed, load ${load.map((each) => each.toFixed(1)).join(" ")}\n`,
    );
    return [...figures, { ...info("ontime: load of the machine", "runnable", load) }];
  } finally {
    await system.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function planned(system: System): Promise<boolean> {
  const { rows } = await system.pool.query<{ n: number }>(
    "select count(*)::int as n from belfry.schedule where decided_until > belfry.now() + interval '1 minute'",
  );
  return rows[0]?.n === firesAMinute;
}

/** A task a minute, whether or not the one before still lives; the second, the fourth and so on are killed. */
function startKilledWakes(system: System): { stop(): Promise<number> } {
  const tasks: SchedulerProcess[] = [];
  let killed = 0;
  const timers = new Set<NodeJS.Timeout>();
  const wake = (): void => {
    const task = system.scheduler();
    tasks.push(task);
    if (tasks.length % 2 === 1) return;
    const timer = setTimeout(() => {
      task.signal("SIGKILL");
      killed += 1;
    }, killAfterMs);
    timers.add(timer);
  };
  wake();
  const clock = setInterval(wake, wakeEveryMs);
  return {
    async stop() {
      clearInterval(clock);
      for (const timer of timers) clearTimeout(timer);
      await Promise.all(tasks.map((task) => task.stop()));
      return killed;
    },
  };
}

/** The machine's one-minute load, every ten seconds of a stretch. */
async function watchLoad(ms: number): Promise<readonly number[]> {
  const seen: number[] = [];
  for (let passed = 0; passed < ms; passed += 10_000) {
    await letPass(Math.min(10_000, ms - passed));
    seen.push(loadavg()[0] ?? 0);
  }
  return seen;
}

interface Fire {
  readonly job: string | null;
  readonly outcome: string;
  readonly lateMs: number | null;
}

async function judge(
  system: System,
  window: { readonly from: number; readonly until: number },
  minutes: number,
): Promise<readonly Figure[]> {
  const { rows } = await system.pool.query<Fire>(
    `select job_id::text as job, outcome::text, lateness_ms::float8 as "lateMs" from belfry.occurrence
     where nominal_at >= belfry.at($1) and nominal_at < belfry.at($2)`,
    [window.from, window.until],
  );
  const runs = Map.groupBy(system.ledger.read(), (record) => record.job);
  const ran = rows.filter((row) => row.outcome === "FIRED" && row.job !== null && runs.has(row.job));
  const doubled = rows.filter((row) => row.job !== null && (runs.get(row.job)?.length ?? 0) > 1).length;
  const missed = minutes * firesAMinute - ran.length;
  if (missed !== 0) await printWhy(system, window);
  const late = ran.map((row) => row.lateMs ?? Number.POSITIVE_INFINITY);
  return [
    info("ontime: fires", "jobs", [rows.length]),
    none("ontime: missed", missed),
    none("ontime: doubled", doubled),
    info("ontime: lateness p50", "ms", late),
    { ...info("ontime: lateness p99", "ms", late), ...p99(late) },
  ];
}

/** The states of the jobs that did not run, to find the cause. */
async function printWhy(system: System, window: { readonly from: number; readonly until: number }): Promise<void> {
  const { rows } = await system.pool.query<{ line: string }>(
    `select format('%s job %s %s, due %s: %s', o.outcome, j.id, j.state, j.due_at::time, string_agg(format('%s %s', e.at::time,
       coalesce(e.reason, e.to_state::text)), ', ' order by e.id)) as line
     from belfry.occurrence o left join belfry.job j on j.id = o.job_id left join belfry.history e on e.job_id = j.id
     where o.nominal_at >= belfry.at($1) and o.nominal_at < belfry.at($2) and o.outcome <> 'FIRED'
     group by o.outcome, j.id limit 5`,
    [window.from, window.until],
  );
  for (const { line } of rows) process.stderr.write(`ontime: missed: ${line}\n`);
}

function p99(late: readonly number[]): Pick<Figure, "value" | "bar" | "pass"> {
  const value = quantile(late, 0.99);
  return { value, bar: `<= ${lateMsMax}`, pass: value <= lateMsMax };
}

const info = (name: string, unit: string, values: readonly number[]): Figure =>
  measured(name, unit, values, { info: true });

/** Exactly none: also one too many is wrong. */
const none = (name: string, count: number): Figure => ({
  ...measured(name, "jobs", [count], { info: true }),
  bar: "0",
  pass: count === 0,
});
