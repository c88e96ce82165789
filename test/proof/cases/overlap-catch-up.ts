import { judge } from "../judge.ts";
import type { LedgerRecord } from "../ledger.ts";
import { minuteMs, movedClock, movedClockSql } from "../moved-clock.ts";
import type { Proof } from "../proof.ts";
import { startSystem } from "../system.ts";
import { until } from "../until.ts";

const outages = 4;
const awayMs = 10 * minuteMs;

/** Jobs for missed times start beside those that are on time, of schedules that forbid overlaps. */
export const overlapCatchUp: Proof = {
  name: "overlap-catch-up",
  about: "no wake for 10 minutes while a job runs, four times: caught-up jobs never run beside another one",
  guards: ["both-slots"],
  async run(context, list) {
    const system = await startSystem(context, {
      app: "overlap",
      sql: movedClockSql,
      env: { BELFRY_DISPATCH_WINDOW_MS: "1000", BELFRY_LOCK_LEASE_MS: "2000" },
    });
    await system.install();
    const fleet = system.fleet();
    const rounds = Math.max(1, Math.round(outages * context.size));
    for (let outage = 1; outage <= rounds; outage += 1) {
      const wakes = system.wakes({ everyMs: 0 });
      await until("caught-up jobs of every outage to end", 100_000, async () => {
        const { rows } = await system.pool.query<{ open: number; done: number }>(
          `select count(*) filter (where state < 'SUCCESS')::int as open, count(*) filter (where state = 'SUCCESS')::int as done
           from belfry.job where catch_up`,
        );
        return rows[0]?.open === 0 && rows[0].done >= (outage - 1) * 2;
      });
      await until("a job to run", 60_000, async () => {
        const { rows } = await system.pool.query("select from belfry.job where state = 'RUNNING' limit 1");
        return rows.length > 0;
      });
      await wakes.stop();
      await movedClock(system.pool).advance(awayMs);
      context.log(`outage ${outage} of ${rounds}: over`);
    }
    const last = system.wakes({ everyMs: 0 });
    await until("the last caught-up jobs to end", 100_000, async () => {
      const { rows } = await system.pool.query<{ done: number; open: number }>(
        `select count(*) filter (where state < 'SUCCESS')::int as open, count(*) filter (where state = 'SUCCESS')::int as done
         from belfry.job where catch_up`,
      );
      return rows[0]?.open === 0 && rows[0].done >= rounds * 2;
    });
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
