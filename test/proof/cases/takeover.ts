import { judge } from "../judge.ts";
import { everyMs, unfinished } from "../occurrences.ts";
import type { Checklist, Proof, ProofContext } from "../proof.ts";
import type { SchedulerProcess } from "../scheduler-process.ts";
import { startInstalled, type System } from "../system.ts";
import { elapsedMs, letPass, until } from "../until.ts";

/** `--defaults`: the real lease and look-ahead, killed every 15 s for 10 minutes. */
const real = { leaseMs: 30_000, killMs: 15_000, lastsMs: 600_000, lateMsMax: 60_000, env: {} };
/** Without the look-ahead, so that an unplanned time is late at once; a process that has begun to wait is killed. */
const short = {
  leaseMs: 10_000,
  killMs: 5_000,
  lastsMs: 120_000,
  lateMsMax: 60_000,
  env: { BELFRY_DISPATCH_WINDOW_MS: "1000", BELFRY_LOCK_LEASE_MS: "10000" },
};
const waiting = /^waiting for \S+, silent for \d+ s$/;

/** A scheduler is killed again and again within the lease of the one before it. */
export const takeover: Proof = {
  name: "takeover",
  about: "the scheduler killed each half lease: one takes over all the same, and says what it waits for",
  minutesMax: 14,
  guards: ["kept-observation"],
  async run(context, list) {
    const times = context.defaults ? real : short;
    const system = await startInstalled(context, {
      app: "scheduled",
      lane: () => ({ visibilityTimeoutSeconds: 30, concurrency: 2 }),
      env: times.env,
    });
    const fleet = system.fleet();
    const first = system.scheduler();
    await until("the first one to plan", 60_000, async () => (await unplannedMs(system)) < 2 * everyMs);
    first.signal("SIGKILL");
    const { tasks, widestMs } = await killAll(context, system, times);
    const last = system.wakes({ everyMs: 0 });
    await until("all times to be decided", 2 * times.leaseMs, async () => (await unplannedMs(system)) < 2 * everyMs);
    await last.stop();
    const overdue = "belfry.job where state < 'SUCCESS' and due_at < belfry.now() - interval '5 s'";
    await system.untilNone("what has been due for some seconds to run", 60_000, overdue);
    if (!context.defaults) await system.untilNone("the last ones to run", 30_000, unfinished);
    await fleet.stop();
    assess(list, tasks, widestMs, times.lateMsMax);
    const { ms: lateMs } = await system.row<{ ms: number }>(
      "select coalesce(max(lateness_ms), 0)::float8 as ms from belfry.occurrence",
    );
    list.expectAtMost(`no nominal time is later than ${times.lateMsMax / 1_000} s`, lateMs, times.lateMsMax, " ms");
    list.figure(`the latest ${lateMs} ms`);
    // With the look-ahead there are always jobs that are due soon.
    if (!context.defaults) await judge(list, system);
  },
};

interface Killed {
  readonly tasks: readonly SchedulerProcess[];
  /** The longest time in which nothing was planned. */
  readonly widestMs: number;
}

async function killAll(
  context: ProofContext,
  system: System,
  { killMs, lastsMs }: { readonly killMs: number; readonly lastsMs: number },
): Promise<Killed> {
  const tasks: SchedulerProcess[] = [];
  let widestMs = 0;
  const untilMs = elapsedMs() + lastsMs;
  while (elapsedMs() < untilMs) {
    const task = system.scheduler();
    tasks.push(task);
    if (!context.defaults) await firstSign(task);
    // A task that finds the lock held ends by itself, and the next one starts at once.
    await Promise.race([letPass(killMs), task.ended]);
    widestMs = Math.max(widestMs, await unplannedMs(system));
    task.signal("SIGKILL");
    await task.ended;
    if (tasks.length % 10 === 0)
      context.log(`${tasks.length} killed, nothing planned for ${Math.round(widestMs)} ms at most`);
  }
  return { tasks, widestMs };
}

/** A busy machine takes seconds to start a process, which is no time in which it waits. */
const firstSign = (task: SchedulerProcess): Promise<unknown> =>
  Promise.race([until("a task's first line", 30_000, () => task.lines().length > 0).catch(() => {}), task.ended]);

/** For how long nothing has been planned of a schedule that fires each second. */
async function unplannedMs({ row }: System): Promise<number> {
  const { ms } = await row<{ ms: number | null }>(
    "select belfry.ms(belfry.now()) - belfry.ms(min(decided_until)) as ms from belfry.schedule",
  );
  return ms ?? Number.POSITIVE_INFINITY;
}

function assess(list: Checklist, tasks: readonly SchedulerProcess[], widestMs: number, lateMsMax: number): void {
  const said = tasks.map((task) => task.lines().filter(({ message }) => waiting.test(message)).length);
  list.expect(
    "tasks say whom they wait for, and for how long it is silent",
    said.some((n) => n > 0),
  );
  list.expect(
    "each says it once",
    said.every((n) => n <= 1),
    Math.max(0, ...said),
  );
  list.expectAtMost("planning never stops for longer than that", widestMs, lateMsMax, " ms");
  list.figure(`${tasks.length} tasks killed, ${said.filter((n) => n > 0).length} of them while they waited`);
  list.figure(`nothing planned for ${Math.round(widestMs)} ms at most`);
}
