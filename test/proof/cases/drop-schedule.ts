import { afterCommit } from "../../../src/run/after-commit.ts";
import { contractLimits } from "../../../src/machine/contract-limits.ts";
import type { PlannedOccurrence, ScheduleSpec } from "../../../src/machine/schedule.ts";
import { judge } from "../judge.ts";
import { unfinished } from "../occurrences.ts";
import type { Proof } from "../proof.ts";
import { startInstalled, type System } from "../system.ts";
import { elapsedMs, letPass } from "../until.ts";

const jobs = 100_000;
/** Of those, due at once: their messages reach workers while the passes cancel the others. */
const due = 500;
const deployMsMax = 10_000;
const cancelMsMax = 120_000;
const statementMsMax = 1_000;
const laterMs = 3_600_000;

/** A release without a schedule of which very many jobs wait, paced by a catch-up. */
export const dropSchedule: Proof = {
  name: "drop-schedule",
  about: "a deployment drops a schedule with 100,000 waiting jobs: it ends at once, passes cancel them, none starts",
  guards: ["removed-pages", "removed-claim"],
  async run(context, list) {
    const system = await startInstalled(context, { app: "scheduled", env: { BELFRY_DISPATCH_WINDOW_MS: "1000" } });
    const count = Math.round(jobs * context.size);
    await plan(system, await dropped(system), count);
    context.log(`${count} jobs wait`);
    const statements = watchStatements(system);
    const deployedMs = elapsedMs();
    await system.install();
    const tookMs = elapsedMs() - deployedMs;
    list.expectAtMost("the deployment ends within 10 s", tookMs, deployMsMax, " ms");
    const startedMs = elapsedMs();
    const fleet = system.fleet();
    const wakes = system.wakes({ everyMs: 0 });
    await system.untilNone("the jobs of the dropped schedule to end", cancelMsMax, open);
    const canceledMs = elapsedMs() - startedMs;
    await system.untilNone("its row to go", 10_000, "belfry.schedule where id = 'dropped'");
    await wakes.stop();
    await system.untilNone("the rest to end", 60_000, unfinished);
    await fleet.stop();
    const longest = await statements.stop();
    list.expect("no statement takes more than 1 s", longest.ms <= statementMsMax, `${longest.ms} ms: ${longest.name}`);
    const tables = await judge(list, system);
    const states = Map.groupBy(
      tables.jobs.filter(({ scheduleId }) => scheduleId === "dropped"),
      ({ state }) => state,
    );
    const numberOf = (state: "CANCELED" | "SKIPPED") => states.get(state)?.length ?? 0;
    const ended = numberOf("CANCELED") + numberOf("SKIPPED");
    list.expect(
      "none of them started",
      ended === count,
      [...states].map(([state, all]) => `${all.length} ${state}`).join(", "),
    );
    const reasons = await system.count(
      "belfry.occurrence where schedule_id = 'dropped' and job_id is not null and reason = 'deleted'",
    );
    list.expectIs("the ledger says why", reasons, count);
    const others = await system.count("belfry.occurrence where schedule_id = 'every-second' and outcome = 'FIRED'");
    list.expect("the other schedule goes on", others > 0, others);
    list.figure(`deployed in ${Math.round(tookMs)} ms, ${count} jobs ended in ${(canceledMs / 1_000).toFixed(1)} s`);
    list.figure(
      `${numberOf("CANCELED")} canceled, ${numberOf("SKIPPED")} skipped; the longest statement ${longest.ms} ms (${longest.name})`,
    );
  },
};

const open = "(select from belfry.job where schedule_id = 'dropped' and finished_at is null limit 1) page";

/** Written beside the schedule of the code, as the release before had it. */
async function dropped({ runtime }: System): Promise<ScheduleSpec> {
  const { store } = runtime.ports;
  const specs = (await store.schedules()).map(({ spec }) => spec);
  const [other] = specs;
  if (other === undefined) throw new Error("the app has a schedule");
  const spec: ScheduleSpec = { ...other, id: "dropped" };
  await store.installSchedules([...specs, spec]);
  return spec;
}

async function plan({ runtime: { ports } }: System, spec: ScheduleSpec, count: number): Promise<void> {
  const { store } = ports;
  const now = await store.now();
  const one = (n: number): PlannedOccurrence => ({
    localTime: `t${n}`,
    fold: 0,
    timezone: "UTC",
    nominalAt: now - (count - n) * 1_000,
    outcome: "PLANNED",
    reason: null,
    isCatchUp: true,
    missedCount: 0,
    job: {
      ...spec.job,
      key: null,
      payload: {},
      dueAt: n >= count - due ? now : now + laterMs,
      delayMs: 0,
      expiresAt: null,
      trace: "drop",
      slotKeys: [],
    },
  });
  for (let from = 0; from < count; from += contractLimits.insertRowsMax) {
    const size = Math.min(contractLimits.insertRowsMax, count - from);
    const occurrences = Array.from({ length: size }, (_, n) => one(from + n));
    const { aftermath } = await store.plan([
      { scheduleId: spec.id, version: 1, decidedUntil: now, nextAt: now + laterMs, occurrences },
    ]);
    await afterCommit(ports, aftermath);
  }
}

interface Longest {
  readonly ms: number;
  readonly name: string;
}

/** How long the longest of Belfry's statements takes, by looks at those that run. */
function watchStatements({ pool, over: ends }: System): { stop(): Promise<Longest> } {
  const over = new AbortController();
  const looks = (async () => {
    let longest: Longest = { ms: 0, name: "none" };
    while (!over.signal.aborted && !ends.aborted) {
      const { rows } = await pool.query<Longest>(`
        select round(extract(epoch from clock_timestamp() - query_start) * 1000)::int as ms, split_part(query, ' ', 2) as name
        from pg_stat_activity
        where datname = current_database() and state = 'active' and starts_with(query, '/* belfry:')
        order by 1 desc limit 1`);
      const [found] = rows;
      if (found !== undefined && found.ms > longest.ms) longest = found;
      // A look of its own would be among what it sees.
      await letPass(25);
    }
    return longest;
  })();
  return {
    stop: () => {
      over.abort();
      return looks;
    },
  };
}
