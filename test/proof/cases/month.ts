import { createTestSystem, type TestSystem } from "belfry/testing";
import { type Checklist, type Proof, seeded } from "../proof.ts";
import { registry } from "../../../src/define/definition.ts";
import { specsOf } from "../../../src/schedule/install-schedules.ts";
import { ledgerRows, simulatedRows } from "../../schedules/simulated-ledger.ts";
import { app, days, from, scheduled, targets } from "../month/schedules.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** No scheduler and no worker for so long, on these days. */
const outages = { everyDays: 7, hours: 5 };
const reportEach = 5;

/** A month passes in minutes, from one due time to the next; a worker dies and jobs fail each day, and the clock jumps by hours. */
export const month: Proof = {
  name: "month",
  about: "30 days of compressed time with every kind of schedule, clock changes, deaths and outages: each time once",
  minutesMax: 120,
  async run({ seed, size, postgresUrl, log }, list) {
    const random = seeded(seed);
    const until = from + Math.max(1, Math.round(days * size)) * dayMs;
    await using system = await createTestSystem({
      apps: [app],
      at: new Date(from).toISOString(),
      databaseUrl: postgresUrl,
    });
    await system.drain();
    const away: [number, number][] = [];
    for (let day = 0, at = from; at < until; day += 1, at += dayMs) {
      plantFaults(system, random);
      if (day % outages.everyDays === outages.everyDays - 1) away.push(await passUnseen(system, outages.hours));
      await system.advance({ to: new Date(at + dayMs).toISOString() });
      if (day % reportEach === reportEach - 1) log(`${day + 1} days`);
    }
    await assess(list, system, { until, away });
  },
};

function plantFaults(system: TestSystem, random: () => number): void {
  for (const { definition } of scheduled) {
    if (random() < 0.2) system.fail({ id: definition.job.id } as never, new Error("planted"), 2);
  }
  const places = ["claimed", "before-settle", "settled"] as const;
  system.crash(places[Math.floor(random() * places.length)] ?? "claimed");
}

/** The time of the database goes on, and nothing else does. @returns from when to when. */
async function passUnseen(system: TestSystem, hours: number): Promise<[number, number]> {
  const before = (await system.now()).getTime();
  await system.database.query("update belfry.test_clock set shift = shift + make_interval(hours => $1)", [hours]);
  return [before, (await system.now()).getTime()];
}

interface Row {
  readonly id: string;
  readonly at: number;
  readonly outcome: string;
  readonly reason: string | null;
  readonly state: string | null;
}

async function assess(
  list: Checklist,
  { database }: TestSystem,
  { until, away }: { until: number; away: readonly [number, number][] },
): Promise<void> {
  const { rows } = await database.query<Row>(
    `select o.schedule_id as id, belfry.ms(o.nominal_at) as at, o.outcome::text as outcome, o.reason, j.state::text as state
     from belfry.occurrence o left join belfry.job j on j.id = o.job_id where o.nominal_at <= $1`,
    [new Date(until)],
  );
  const bySchedule = Map.groupBy(rows, ({ id }) => id);
  const isAway = (at: number): boolean => away.some(([start, end]) => at > start && at <= end);
  let fired = 0;
  for (const { definition, fires } of scheduled) {
    const own = (bySchedule.get(definition.id) ?? []).filter(
      ({ reason }) => reason !== "dst-gap" && reason !== "excluded",
    );
    const times = new Set(fires(from, until));
    const at = new Set(own.map((row) => row.at));
    list.expectNone(
      `${definition.id}: each time that the calendar names has a row`,
      [...times].filter((time) => !at.has(time)).map(iso),
    );
    list.expectNone(`${definition.id}: no other time has one`, [...at].filter((time) => !times.has(time)).map(iso));
    const started = own.filter(({ outcome }) => outcome === "FIRED" || outcome === "CAUGHT_UP");
    const twice = started.length - new Set(started.map((row) => row.at)).size;
    list.expectIs(`${definition.id}: no time fires twice`, twice, 0);
    list.expectNone(
      `${definition.id}: outside outages each time fired, and its job ended well`,
      own
        .filter((row) => !isAway(row.at) && !(row.outcome === "FIRED" && row.state === "SUCCESS"))
        .filter(({ outcome }) => outcome !== "COALESCED")
        .map((row) => `${iso(row.at)} ${row.outcome} ${row.reason ?? ""} ${row.state ?? ""}`),
    );
    for (const window of away) assessOutage(list, definition.id, own, window);
    fired += started.length;
  }
  await assessRuns(list, database, bySchedule);
  await assessSimulation(list, database, { until, isAway });
  list.figure(`${rows.length} times, ${fired} jobs of schedules, ${away.length} outages of ${outages.hours} h`);
}

/** By the rule `latest`: the newest missed time gets a job, the others stand behind it. */
function assessOutage(list: Checklist, id: string, own: readonly Row[], [start, end]: readonly [number, number]): void {
  const missed = own.filter(({ at }) => at > start && at <= end).toSorted((a, b) => b.at - a.at);
  const wrong = missed.filter(
    ({ outcome, state }, n) =>
      (n === 0 && !(["CAUGHT_UP", "FIRED"].includes(outcome) && state === "SUCCESS")) ||
      (n > 0 && outcome !== "COALESCED"),
  );
  list.expectNone(
    `${id}: of the times missed until ${iso(end)} the newest was caught up`,
    wrong,
    (row) => `${iso(row.at)} ${row.outcome} ${row.state ?? ""}`,
  );
}

/** What is missed in an outage is another thing than what a simulation names; the calendar's names are held to it above. */
async function assessSimulation(
  list: Checklist,
  database: TestSystem["database"],
  { until, isAway }: { until: number; isAway: (at: number) => boolean },
): Promise<void> {
  const linesOf = (rows: Awaited<ReturnType<typeof ledgerRows>>): readonly string[] =>
    rows.flatMap(({ at, line }) => (isAway(at) ? [] : [line]));
  const simulated = linesOf(simulatedRows(specsOf(registry([app]), "test"), { from, to: until }));
  const ledger = linesOf(await ledgerRows(database, { from, to: until }));
  const [named, kept] = [new Set(simulated), new Set(ledger)];
  list.expectNone(
    "the simulation of the month names each row of the ledger",
    ledger.filter((line) => !named.has(line)),
  );
  list.expectNone(
    "it names no other row",
    simulated.filter((line) => !kept.has(line)),
  );
  list.figure(`${simulated.length} rows simulated and compared`);
}

async function assessRuns(
  list: Checklist,
  database: TestSystem["database"],
  bySchedule: ReadonlyMap<string, readonly Row[]>,
): Promise<void> {
  const started = (id: string): number =>
    (bySchedule.get(id) ?? []).filter(({ outcome }) => outcome === "FIRED" || outcome === "CAUGHT_UP").length;
  const { rows } = await database.query<{ kind: string; state: string; n: number; ok: number }>(
    "select kind, state::text, count(*)::int as n, sum(ok)::int as ok from belfry.run group by 1, 2",
  );
  for (const [id, kind, each] of [
    ["graphs", "month-graph", 3],
    ["fan-outs", "month-fan-out", targets],
    ["ahead", "month-ahead", targets],
  ] as const) {
    const runs = rows.filter((row) => row.kind === kind);
    const seen = runs.map(({ state, n, ok }) => `${n} ${state}, ${ok} tasks`).join("; ");
    const isWhole =
      runs.length === 1 && runs[0]?.state === "DONE" && runs[0].n === started(id) && runs[0].ok === each * started(id);
    list.expect(`${id}: each fire has one run, and all of its tasks ended well`, isWhole, seen);
  }
}

const iso = (at: number): string => new Date(at).toISOString();
