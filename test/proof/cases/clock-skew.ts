import { judge } from "../judge.ts";
import {
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

const skewMs = 10 * minuteMs;
const wrongClock = `--import=${new URL("../skewed-clock.ts", import.meta.url).href}`;

/** Each relays what is due by then; what was missed is a second apart. */
const wakesMax = 60;

/** The wall clocks that the hosts of schedulers and workers have in turn. */
const hosts = [
  { name: "right", env: {} },
  { name: "10 minutes ahead", env: { BELFRY_PROOF_SKEW_MS: String(skewMs) } },
  { name: "10 minutes behind", env: { BELFRY_PROOF_SKEW_MS: String(-skewMs) } },
  {
    name: "stepping back",
    env: { BELFRY_PROOF_SKEW_MS: String(-skewMs), BELFRY_PROOF_SKEW_STEP_EVERY_MS: "200" },
  },
];

/** Wrong wall clocks in every process, then a database clock that jumps and steps back. */
export const clockSkew: Proof = {
  name: "clock-skew",
  about: "wall clocks of processes +-10 minutes and stepping back, then the database's: no decision changes",
  guards: ["database-clock"],
  async run(context, list) {
    const { system, clock } = await beginMinutely(context, { BELFRY_STAGE: "dev", BELFRY_PASS_MS: "500" });
    const fleet = system.fleet({ envOf: (ordinal) => hostEnv(system, ordinal) });
    await wrongHosts(list, system, clock);
    context.log("wall clocks of the processes: over");
    await wrongDatabase(list, system, clock);
    context.log("clock of the database: over");
    await fleet.stop();
    const { occurrences, jobs } = await judge(list, system, { expectedTimes: await expectedMinutes(system) });
    list.figure(`${occurrences.length} occurrences, ${jobs.length} jobs`);
  },
};

/** Never the right one: workers take the wrong clocks in turn. */
function hostEnv(system: System, ordinal: number): Readonly<Record<string, string>> {
  const host = hosts[1 + (ordinal % (hosts.length - 1))];
  return { ...host?.env, NODE_OPTIONS: system.nodeOptions(wrongClock) };
}

/** A minute after the other, each planned by a task whose host has another wall clock. */
async function wrongHosts(list: Checklist, system: System, clock: MovedClock): Promise<void> {
  for (const host of [...hosts, ...hosts]) {
    await clock.align();
    const now = await clock.now();
    const task = system.scheduler({ ...host.env, NODE_OPTIONS: system.nodeOptions(wrongClock) });
    const end = await task.ended;
    list.expectIs(`clock ${host.name}: the task ends with 0`, end.code, 0);
    const said = task.plainLines().find((line) => line.startsWith("wall clock off by"));
    const offMs = Number(said?.match(/-?\d+/)?.[0] ?? Number.NaN);
    list.expect(
      `clock ${host.name}: it is wrong indeed`,
      host.name === "right" ? offMs === 0 : Math.abs(offMs) >= skewMs - 1,
      said,
    );
    await system.untilNone("the fires of this minute to run", 60_000, unfinished);
    const { fired, lateMs } = await system.row<{ fired: number; lateMs: number }>(
      `select count(*) filter (where outcome = 'FIRED')::int as fired, coalesce(max(lateness_ms), 0)::float8 as "lateMs"
       from belfry.occurrence where nominal_at = date_trunc('minute', belfry.at($1))`,
      [now],
    );
    list.expectIs(`clock ${host.name}: each schedule fires once`, fired, 220);
    list.expect(`clock ${host.name}: its lateness is the database's`, lateMs < minuteMs, lateMs);
  }
  const missed = await system.count("belfry.job where catch_up");
  list.expectIs("nothing counts as missed", missed, 0);
}

/** Ahead by ten minutes is an outage of ten minutes; back again, nothing is decided twice and nothing runs early. */
async function wrongDatabase(list: Checklist, system: System, clock: MovedClock): Promise<void> {
  await clock.set(0);
  await clock.align();
  const right = await clock.now();
  await wake(list, system);
  await clock.advance(skewMs);
  await wake(list, system);
  await clock.set(1);
  const caughtUp = await caughtUpJobs(system, "latest", { after: right, until: right + skewMs });
  const odd = [...caughtUp].filter(([, n]) => n !== 1);
  list.expectNone("a jump ahead is an outage: one job each for latest", odd, ([id, n]) => `${id} has ${n}`);
  // Not within `until`: it looks seldom where a look is dear, and a wake takes seconds.
  for (let wakes = 0; wakes < wakesMax && (await openCaughtUp(system)) > 0; wakes += 1) await wake(list, system);
  await until("what was missed to run", 60_000, async () => (await openCaughtUp(system)) === 0);
  const before = await ledger(system);
  await clock.advance(-skewMs);
  for (let step = 0; step < 3; step += 1) {
    await wake(list, system);
    await clock.advance(-minuteMs);
  }
  const after = await ledger(system);
  list.expect("while the clock is behind what is decided, nothing is decided", after === before);
  await clock.advance(skewMs + 3 * minuteMs);
  await clock.align();
  await wake(list, system);
  await system.untilNone("the fires of this minute to run", 60_000, unfinished);
  list.expect("when time has come again, it goes on", (await undecided(system)) === 0);
}

async function wake(list: Checklist, system: System): Promise<void> {
  const { code } = await system.scheduler().ended;
  if (code !== 0) list.expect("a wake ends with 0", false, `${code}`);
}

/** Every row of the ledger with its decision, as one text. */
async function ledger({ row }: System): Promise<string> {
  const { all } = await row<{ all: string }>(
    `select md5(string_agg(o::text, ' ' order by schedule_id, nominal_at, local_time))
       || ' ' || (select count(*) from belfry.job) || ' ' || (select max(decided_until) from belfry.schedule) as all
     from belfry.occurrence o`,
  );
  return all;
}
