import { judge } from "../judge.ts";
import {
  assessPace,
  beginMinutely,
  caughtUpJobs,
  expectedMinutes,
  minuteMs,
  type MovedClock,
  openCaughtUp,
  undecided,
} from "../moved-clock.ts";
import { unfinished } from "../occurrences.ts";
import type { Checklist, Proof } from "../proof.ts";
import type { System } from "../system.ts";
import { until } from "../until.ts";

const hourMs = 60 * minuteMs;
/** What a group's schedules do with the missed times: how many of `missed` get a job each. */
const jobsOf = { latest: () => 1, capped: (missed: number) => Math.min(12, missed), whole: (missed: number) => missed };

/** Hours pass in the database while no scheduler runs; real tasks then come one at a time, in pairs, and late. */
export const missedWakes: Proof = {
  name: "missed-wakes",
  about: "no wake for 6 h, wakes in pairs, a wake 2 h late, 220 minutely schedules: by policy, paced, all recorded",
  guards: ["pace"],
  async run(context, list) {
    const { system, clock } = await beginMinutely(context, { BELFRY_PASS_MS: "5000" });
    const fleet = system.fleet();
    await onTime(list, system, clock);
    await outage(list, system, clock, { hours: 6, wakes: 1 });
    context.log("6 hours: caught up");
    await outage(list, system, clock, { hours: 2, wakes: 2 });
    context.log("2 hours, wakes in pairs: caught up");
    await onTime(list, system, clock);
    await fleet.stop();
    await assessPace(list, system, "capped", 2_000);
    await assessPace(list, system, "whole", 100);
    const { occurrences, jobs } = await judge(list, system, { expectedTimes: await expectedMinutes(system) });
    const outcomes = Map.groupBy(
      occurrences,
      (row) => `${row.outcome} ${row.reason?.startsWith("into") ? "" : (row.reason ?? "")}`,
    );
    list.figure([...outcomes].map(([outcome, rows]) => `${rows.length} ${outcome.trim()}`).join(", "));
    list.figure(`${jobs.length} jobs`);
  },
};

/** A minute later than planned is late, not missed: everybody fires once. */
async function onTime(list: Checklist, system: System, clock: MovedClock): Promise<void> {
  await clock.align();
  const now = await clock.now();
  const task = system.scheduler({ BELFRY_PASS_MS: "500" });
  const end = await task.ended;
  list.expectIs("a wake ends with 0", end.code, 0);
  await system.untilNone("the fires of this minute to run", 60_000, unfinished);
  const fired = await system.count(
    "belfry.occurrence where nominal_at > belfry.at($1) - interval '1 minute' and nominal_at <= belfry.at($1) and outcome = 'FIRED'",
    [now],
  );
  list.expectIs("a wake that is in time fires each schedule once", fired, 220);
}

async function outage(
  list: Checklist,
  system: System,
  clock: MovedClock,
  { hours, wakes }: { readonly hours: number; readonly wakes: number },
): Promise<void> {
  const after = await clock.now();
  // It stands still until everything is decided, so that the count of missed times does not depend on this machine.
  await clock.set(0);
  await clock.advance(hours * hourMs);
  const back = await clock.now();
  const tasks = Array.from({ length: wakes }, () => system.wakes({ everyMs: 500 }));
  await until("all times to be decided", 60_000, async () => (await undecided(system)) === 0);
  await clock.set(1);
  await until("the caught-up jobs to run", 100_000, async () => (await openCaughtUp(system)) === 0);
  await Promise.all(tasks.map((each) => each.stop()));
  await system.untilNone("what was dispatched to run", 30_000, unfinished);
  const missed = Math.floor(back / minuteMs) - Math.floor(after / minuteMs);
  for (const [group, wanted] of Object.entries(jobsOf)) {
    const counts = await caughtUpJobs(system, group, { after, until: back });
    const odd = [...counts].filter(([, n]) => n !== wanted(missed));
    const jobs = [...counts.values()].reduce((sum, n) => sum + n, 0);
    list.expectNone(
      `${hours} h: each of ${group} has ${wanted(missed)} caught-up jobs`,
      odd,
      ([id, n]) => `${id} has ${n}`,
    );
    list.figure(`${hours} h ${group}: ${jobs} jobs`);
  }
  const skipped = await caughtUpJobs(system, "skip", { after, until: back });
  list.expectNone(
    `${hours} h: none of skip is caught up`,
    [...skipped].flatMap(([id, n]) => (n === 0 ? [] : [id])),
  );
}
