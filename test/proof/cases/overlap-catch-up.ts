import { judge } from "../judge.ts";
import type { LedgerRecord } from "../ledger.ts";
import { minuteMs, movedClock, movedClockSql, openCaughtUp } from "../moved-clock.ts";
import type { Proof } from "../proof.ts";
import { startInstalled, type System } from "../system.ts";
import { until } from "../until.ts";

const outages = 4;
const awayMs = 10 * minuteMs;

/** Jobs for missed times start beside those that are on time, of schedules that forbid overlaps. */
export const overlapCatchUp: Proof = {
  name: "overlap-catch-up",
  about: "no wake for 10 minutes while a job runs, four times: caught-up jobs never run beside another one",
  guards: ["both-slots"],
  async run(context, list) {
    const system = await startInstalled(context, {
      app: "overlap",
      sql: movedClockSql,
      env: { BELFRY_DISPATCH_WINDOW_MS: "1000", BELFRY_LOCK_LEASE_MS: "2000" },
    });
    const fleet = system.fleet();
    const rounds = Math.max(1, Math.round(outages * context.size));
    for (let outage = 1; outage <= rounds; outage += 1) {
      const wakes = system.wakes({ everyMs: 0 });
      await untilCaughtUp(system, outage - 1);
      await until("a job to run", 60_000, async () => (await system.count("belfry.job where state = 'RUNNING'")) > 0);
      await wakes.stop();
      await movedClock(system.pool).advance(awayMs);
      context.log(`outage ${outage} of ${rounds}: over`);
    }
    const last = system.wakes({ everyMs: 0 });
    await untilCaughtUp(system, rounds);
    await last.stop();
    await fleet.stop();
    const tables = await judge(list, system);
    const scheduleOf = new Map(tables.jobs.map((job) => [job.id, job.scheduleId ?? ""]));
    const pairs = together(system.ledger.read(), scheduleOf);
    list.expectNone("two jobs of a schedule never run at once, by the target's own ledger", pairs);
    const caughtUp = tables.occurrences.filter(({ outcome }) => outcome === "CAUGHT_UP").length;
    list.expect("there are caught-up jobs", caughtUp >= rounds * 2, caughtUp);
    list.figure(`${rounds} outages, ${caughtUp} times CAUGHT_UP, ${tables.occurrences.length} in all`);
  },
};

/** Each outage leaves two jobs to catch up at least. */
async function untilCaughtUp(system: System, outages: number): Promise<void> {
  await until(`the caught-up jobs of ${outages} outages to end`, 100_000, async () => {
    const done = await system.count("belfry.job where catch_up and state = 'SUCCESS'");
    return (await openCaughtUp(system)) === 0 && done >= outages * 2;
  });
}

/** Pairs of jobs of one schedule that had both begun and not stopped; a killed process runs none. */
export function together(ledger: readonly LedgerRecord[], scheduleOf: ReadonlyMap<string, string>): readonly string[] {
  const running = new Map<string, Set<string>>();
  const pairs: string[] = [];
  for (const { what, job, pid } of ledger) {
    if (what === "killed") {
      const dead = new Set(ledger.flatMap((each) => (each.pid === pid ? each.job : [])));
      for (const beside of running.values()) for (const each of dead) beside.delete(each);
      continue;
    }
    const schedule = scheduleOf.get(job) ?? "";
    const beside = running.get(schedule) ?? new Set();
    running.set(schedule, beside);
    if (what === "start") {
      for (const other of beside) pairs.push(`${schedule}: ${job} beside ${other}`);
      beside.add(job);
    } else if (what === "stop") beside.delete(job);
  }
  return pairs;
}
