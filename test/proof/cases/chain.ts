import { type ChaosQueue, startChaosQueue } from "../chaos-queue.ts";
import { ambiguousJobs, judge } from "../judge.ts";
import { killNowAndThen } from "../killer.ts";
import { type Proof, seeded } from "../proof.ts";
import { startSystem } from "../system.ts";
import { readTables } from "../tables.ts";
import { letPass, until } from "../until.ts";

const runMs = 60_000;
const killEveryMs = 2_000;
const schedulerEveryMs = 4_000;
const withinMs = 8_000;
const chaos = { duplicate: 0.5, lost: 0, refused: 0.05, late: 0.2, replyLost: 0.03 };

/** A schedule of each second starts runs, some of which fail; another one follows it, while every process is killed. */
export const chainProof: Proof = {
  name: "chain",
  about:
    "a schedule that follows another one, under kills of workers and schedulers and doubled messages: exactly once",
  guards: ["order"],
  async run(context, list) {
    const random = seeded(context.seed);
    let queue: ChaosQueue | null = null;
    const system = await startSystem(context, {
      app: "chain",
      lane: () => ({ visibilityTimeoutSeconds: 4 }),
      env: { BELFRY_DISPATCH_WINDOW_MS: "1000", BELFRY_LOCK_LEASE_MS: "2000" },
      async inFrontOfSqs(target) {
        queue = await startChaosQueue(target, { chaos, scale: 10, random });
        return queue;
      },
    });
    await system.install();
    const fleet = system.fleet({ deadLetters: true });
    const wakes = system.wakes({ everyMs: 500 });
    const killer = killNowAndThen(system, () => fleet.pids("default"), { everyMs: killEveryMs, random });
    const ofScheduler = setInterval(() => wakes.current().signal("SIGKILL"), schedulerEveryMs);
    await letPass(Math.max(20_000, Math.round(runMs * context.size)));
    killer.stop();
    clearInterval(ofScheduler);
    await system.pool.query("update belfry.schedule set next_at = null where id = 'bills'");
    const open = "belfry.occurrence where outcome = 'PLANNED'";
    const undecided = `belfry.occurrence b where schedule_id = 'bills' and nominal_at <= belfry.now() and not exists (
      select from belfry.occurrence c where c.schedule_id = 'closings' and c.nominal_at = b.nominal_at)`;
    await until("each time to be decided", 90_000, async () => (await system.count(undecided)) === 0);
    await until("all to run", 90_000, async () => (await system.count(open)) + (await system.openJobs()) === 0);
    await wakes.stop();
    await fleet.stop();
    const ambiguous = ambiguousJobs(await readTables(system.pool), system.processes.killed());
    const chains = [{ id: "closings", after: "bills", withinMs }];
    const { occurrences } = await judge(list, system, { ambiguous, chains });
    const of = (outcome: string): number =>
      occurrences.filter((row) => row.scheduleId === "closings" && row.outcome === outcome).length;
    list.expect("times were followed", of("FIRED") > 0, of("FIRED"));
    list.expect("times were not followed", of("SKIPPED") > 0, of("SKIPPED"));
    list.expect("processes were killed", killer.count() > 0, killer.count());
    list.figure(`${of("FIRED")} followed, ${of("SKIPPED")} not, ${killer.count()} workers killed`);
  },
};
