import { judge } from "../judge.ts";
import { assessEverySecond, unfinished } from "../occurrences.ts";
import { points, type SchedulerPoint } from "../points.ts";
import type { Proof } from "../proof.ts";
import { startSystem, type System } from "../system.ts";

const lockLeaseMs = 1_000;
const rounds = 3;
/** A process passes these once: its third passing is that of the third process. */
const onceAProcess: ReadonlySet<SchedulerPoint> = new Set(["lock.acquired", "fence.installed", "lock.beforeRelease"]);

/** Two dozen scheduler tasks in a row, each dies at another place; a schedule fires every second all the while. */
export const crashScheduler: Proof = {
  name: "crash-scheduler",
  about: "kill -9 of the scheduler at eight places, three times each; each occurrence once, every job runs",
  guards: ["resend"],
  async run(context, list) {
    const system = await startSystem(context, {
      app: "scheduled",
      lane: () => ({ visibilityTimeoutSeconds: 4, concurrency: 2 }),
      env: {
        BELFRY_DISPATCH_WINDOW_MS: "1000",
        BELFRY_LOCK_LEASE_MS: String(lockLeaseMs),
      },
    });
    const installedAt = Date.now();
    await system.install();
    const fleet = system.fleet();
    const feed = feedRelay(system);
    for (let round = 1; round <= rounds; round += 1) {
      for (const point of points.scheduler) {
        const ordinal = onceAProcess.has(point) ? 1 : round;
        const task = system.scheduler({
          BELFRY_CRASH_POINT: `${point}:${ordinal}`,
          BELFRY_PASS_MS: point === "lock.beforeRelease" ? "2000" : "30000",
        });
        const end = await task.ended;
        list.expect(`the task dies at ${point}:${ordinal}`, end.signal === "SIGKILL", end.signal ?? String(end.code));
      }
      context.log(`round ${round} of ${rounds}: ${points.scheduler.length} tasks killed`);
    }
    await feed.stop();
    const last = system.scheduler({ BELFRY_PASS_MS: "60000" });
    await system.untilNone("everything dispatched to run", 60_000, unfinished);
    const end = await last.stop();
    list.expectIs("the last task ends with 0", end.code, 0);
    await system.untilNone("what the last task planned to run", 30_000, unfinished);
    await fleet.stop();
    const tables = await judge(list, system);
    assessEverySecond(list, tables, installedAt);
    list.figure(
      `${rounds * points.scheduler.length} tasks killed, ${tables.occurrences.length} occurrences, ${tables.jobs.length} jobs`,
    );
  },
};

/** Jobs due later than the dispatch window, all the time, so that every pass has something to relay. */
function feedRelay(system: System): { stop(): Promise<void> } {
  let n = 0;
  let turn: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    const items = Array.from({ length: 5 }, () => ({ payload: { n: ++n }, delayMs: 1_500 + (n % 5) * 300 }));
    turn = turn.then(() => system.enqueue("later", items));
  }, 500);
  return {
    async stop() {
      clearInterval(timer);
      await turn;
    },
  };
}
