import { join } from "node:path";
import { isFinal } from "../../../src/core/state.ts";
import { judge } from "../judge.ts";
import { points, type SchedulerPoint } from "../points.ts";
import { Checklist, type Proof } from "../proof.ts";
import { startSystem, type System } from "../system.ts";
import type { Tables } from "../tables.ts";
import { until } from "../until.ts";

const everyMs = 1_000;
const lockLeaseMs = 1_000;
const rounds = 3;
/** A process passes these once: its third passing is that of the third process. */
const onceAProcess: ReadonlySet<SchedulerPoint> = new Set(["lock.acquired", "fence.installed", "lock.beforeRelease"]);

/** Two dozen scheduler tasks in a row, each dies at another place; a schedule fires every second all the while. */
export const crashScheduler: Proof = {
  name: "crash-scheduler",
  about: "kill -9 of the scheduler at eight places, three times each; each occurrence once, every job runs",
  guards: ["resend"],
  async run(context) {
    const list = new Checklist();
    const system = await startSystem({
      app: "scheduled",
      folder: join(context.folder, "system"),
      postgresUrl: context.postgresUrl,
      lane: () => ({ visibilityTimeoutSeconds: 4, concurrency: 2 }),
      env: {
        BELFRY_LOOK_AHEAD_MS: "1000",
        BELFRY_LOCK_LEASE_MS: String(lockLeaseMs),
        ...(context.without === null ? {} : { BELFRY_PROOF_WITHOUT: context.without }),
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
    await until("everything handed off to run", 60_000, async () => (await unfinished(system)) === 0);
    const end = await last.stop();
    list.expect("the last task ends with 0", end.code === 0, `${end.code}`);
    await until("what the last task planned to run", 30_000, async () => (await unfinished(system)) === 0);
    await fleet.stop();
    const tables = await judge(list, system);
    assess(list, tables, installedAt);
    list.figure(
      `${rounds * points.scheduler.length} tasks killed, ${tables.occurrences.length} occurrences, ${tables.jobs.length} jobs`,
    );
    await system.stop();
    return list.verdict();
  },
};

/** Jobs due later than the look-ahead, all the time, so that every pass has something to relay. */
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

/** Jobs that are due and have not ended, later ones included. */
async function unfinished(system: System): Promise<number> {
  const { rows } = await system.pool.query(
    "select state, due_at > belfry.now() + interval '2 s' as far from belfry.job",
  );
  return rows.filter(({ state, far }) => !isFinal(state) && !far).length;
}

function assess(list: Checklist, { occurrences, now }: Tables, installedAt: number): void {
  const times = occurrences.map((row) => row.nominalAt);
  const [first = 0] = times;
  const last = times.at(-1) ?? 0;
  const gaps = times.flatMap((time, index) =>
    index > 0 && time - (times[index - 1] ?? 0) !== everyMs ? [new Date(time).toISOString()] : [],
  );
  list.expectNone("one occurrence for every second, none twice (C8)", gaps);
  list.expect(
    "the first nominal time is that of the install",
    first - installedAt <= 2 * everyMs,
    `${first - installedAt} ms later`,
  );
  list.expect("the last nominal time is that of now", now - last <= 3 * everyMs, `${now - last} ms ago`);
  const odd = occurrences.filter((row) => row.outcome !== "FIRED" && row.outcome !== "CAUGHT_UP");
  list.expectNone(
    "every occurrence fired",
    odd.map((row) => `${new Date(row.nominalAt).toISOString()} ${row.outcome} ${row.reason}`),
  );
}
