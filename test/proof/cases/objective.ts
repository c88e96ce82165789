import { fileURLToPath } from "node:url";
import type { ObjectiveStand } from "../../../src/insight/objectives.ts";
import { killNowAndThen } from "../killer.ts";
import { movedClock, movedClockSql } from "../moved-clock.ts";
import { type Checklist, type Proof, seeded } from "../proof.ts";
import { startInstalled, type System } from "../system.ts";
import { elapsedMs, letPass, until } from "../until.ts";

const schedules = { "on-time": 2_000, ends: 3_000 } as const;
const steadySeconds = 40;
const silentSeconds = 20;
/** The fast window, what is promised, a look, and a pass that may be under way. */
const ringsMsMax = 5_357 + 3_000 + 1_000 + 5_000;

/** Times come each second under kills, then no scheduler runs for a while: what the ledger says is what the objective counts. */
export const objectiveProof: Proof = {
  name: "objective",
  about:
    "two objectives, random kill -9, 20 s without a scheduler: it burns within the window, not before, and counts exactly",
  guards: ["unstarted"],
  async run(context, list) {
    const system = await startInstalled(context, {
      app: "promised",
      sql: movedClockSql,
      // Without it what is sent ahead would run for minutes without a scheduler.
      env: { BELFRY_DISPATCH_WINDOW_MS: "1000" },
    });
    const reader = startReader(system);
    const fleet = system.fleet();
    let wakes = system.wakes({ everyMs: 200 });
    const killer = killNowAndThen(system, () => fleet.pids("default"), {
      everyMs: 3_000,
      random: seeded(context.seed),
    });
    await letPass(steadySeconds * 1_000 * Math.max(0.5, context.size));
    killer.stop();
    await until("a time of healthy running", 60_000, () => reader.stands().length > 0 && reader.burning().length === 0);
    await wakes.stop();
    const rang = await ringsIn(reader);
    list.expectNone(
      `each burns in the silence, after its window at the earliest and within ${ringsMsMax} ms`,
      Object.entries(schedules).flatMap(([id, withinMs]) => {
        const at = rang.get(id);
        return at !== undefined && at > withinMs && at < ringsMsMax ? [] : [`${id}: ${at ?? "never"}`];
      }),
    );
    wakes = system.wakes({ everyMs: 200 });
    await until("the alarms to end", 60_000, () => reader.stands().length > 0 && reader.burning().length === 0);
    await movedClock(system.pool).set(0);
    await system.untilNone("the handlers to end", 60_000, "belfry.job where state = 'RUNNING'");
    await wakes.stop();
    await fleet.stop();
    await assess(list, system, reader);
    list.figure(
      `${killer.count()} workers killed, ${[...rang].map(([id, ms]) => `${id} after ${Math.round(ms)} ms`).join(", ")}`,
    );
  },
};

interface Reader {
  /** The newest answer. */
  stands(): readonly ObjectiveStand[];
  burning(): readonly string[];
}

/** A process of its own reads, as an API or a scheduler task would. */
function startReader({ processes, env }: System): Reader {
  let stands: readonly ObjectiveStand[] = [];
  const program = fileURLToPath(new URL("../objective-reader.ts", import.meta.url));
  processes.start({
    name: "reader",
    args: [program],
    env,
    onLine(line) {
      if (line.startsWith("[")) stands = JSON.parse(line) as readonly ObjectiveStand[];
    },
  });
  return {
    stands: () => stands,
    burning: () => stands.filter(({ fast }) => fast.burns).map(({ schedule }) => schedule),
  };
}

/** When each burnt first, in milliseconds since the last scheduler ended. */
async function ringsIn(reader: Reader): Promise<ReadonlyMap<string, number>> {
  const startedMs = elapsedMs();
  const rang = new Map<string, number>();
  while (elapsedMs() - startedMs < silentSeconds * 1_000) {
    for (const id of reader.burning()) if (!rang.has(id)) rang.set(id, elapsedMs() - startedMs);
    await letPass(200);
  }
  return rang;
}

/** The clock stands: each time is decided, and the count by hand is that of the ledger's rows and their jobs. */
async function assess(list: Checklist, system: System, reader: Reader): Promise<void> {
  const before = reader.stands();
  await until("the reader to look again", 10_000, () => reader.stands() !== before);
  const objectives = reader.stands();
  const rows = await system.rows<{ id: string; times: number; missed: number }>(`
    with each as (
      select o.schedule_id as id, case o.schedule_id
          when 'on-time' then o.outcome in ('FIRED', 'CAUGHT_UP') and o.decided_at - o.nominal_at <= interval '2.0005 s'
          else j.state = 'SUCCESS' and j.finished_at - o.nominal_at <= interval '3 s' end as good
      from belfry.occurrence o left join belfry.job j on j.id = o.job_id
      where o.nominal_at <= belfry.now() - case o.schedule_id when 'on-time' then interval '2 s' else interval '3 s' end
    )
    select id, count(*)::int as times, count(*) filter (where good is not true)::int as missed from each group by id`);
  const byHand = new Map(rows.map(({ id, ...counts }) => [id, counts]));
  list.expectNone(
    "the counts of each objective are those of the ledger",
    objectives.flatMap(({ schedule, times, missed }) => {
      const counts = byHand.get(schedule);
      return counts?.times === times && counts.missed === missed
        ? []
        : [`${schedule}: ${missed} of ${times}, by hand ${counts?.missed} of ${counts?.times}`];
    }),
  );
  for (const { schedule, times, missed } of objectives) {
    list.expect(`the silence counts against ${schedule}`, missed >= silentSeconds - 5 && times > missed, missed);
    list.figure(`${schedule}: ${missed} of ${times} missed`);
  }
}
