import { startHunted } from "../hunted.ts";
import type { Proof } from "../proof.ts";
import { letPass, until } from "../until.ts";

const runMs = 60_000;
const withinMs = 8_000;

/** A schedule of each second starts runs, some of which fail; another one follows it, while every process is killed. */
export const chainProof: Proof = {
  name: "chain",
  about:
    "a schedule that follows another one, under kills of workers and schedulers and doubled messages and a restore: exactly once",
  guards: ["order", "lost-ids"],
  async run(context, list) {
    const hunted = await startHunted(context, {
      app: "chain",
      chaos: true,
      loses: true,
      env: { BELFRY_DISPATCH_WINDOW_MS: "1000", BELFRY_LOCK_LEASE_MS: "2000" },
      killEveryMs: 2_000,
      schedulerEveryMs: 4_000,
    });
    const { system } = hunted;
    const partMs = Math.max(10_000, Math.round((runMs / 3) * context.size));
    await letPass(partMs);
    await hunted.lose(() => letPass(partMs));
    await letPass(partMs);
    hunted.endKills();
    await system.pool.query("update belfry.schedule set next_at = null where id = 'bills'");
    const open = "belfry.occurrence where outcome = 'PLANNED'";
    const undecided = `belfry.occurrence b where schedule_id = 'bills' and nominal_at <= belfry.now() and not exists (
      select from belfry.occurrence c where c.schedule_id = 'closings' and c.nominal_at = b.nominal_at)`;
    await system.untilNone("each time to be decided", 90_000, undecided);
    await until("all to run", 90_000, async () => (await system.count(open)) + (await system.openJobs()) === 0);
    const { occurrences } = await hunted.judged(list, { chains: [{ id: "closings", after: "bills", withinMs }] });
    const of = (outcome: string): number =>
      occurrences.filter((row) => row.scheduleId === "closings" && row.outcome === outcome).length;
    list.expect("times were followed", of("FIRED") > 0, of("FIRED"));
    list.expect("times were not followed", of("SKIPPED") > 0, of("SKIPPED"));
    list.figure(`${of("FIRED")} followed, ${of("SKIPPED")} not, ${hunted.seen()}`);
  },
};
