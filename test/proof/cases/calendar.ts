import { fileURLToPath } from "node:url";
import { createSandbox } from "../../../src/local/lambda/sandbox.ts";
import { schedulesOf } from "../app/calendar.ts";
import { CalendarTimes, type Eras } from "../calendar-times.ts";
import { type Hunted, startHunted } from "../hunted.ts";
import { movedClock, movedClockSql } from "../moved-clock.ts";
import { newestVariable, points } from "../points.ts";
import type { Checklist, Proof } from "../proof.ts";
import type { SchedulerProcess } from "../scheduler-process.ts";
import type { System } from "../system.ts";
import type { Tables } from "../tables.ts";
import { letPass, until } from "../until.ts";

const lateMs = 2_000;
const noon = (month: number, day: number): number => Date.UTC(2031, month - 1, day, 12);
const [from, end] = [noon(3, 27), noon(6, 14)];
const paused = { id: "berlin-next", from: noon(4, 28), until: noon(5, 3) };
const outage = { from: noon(5, 18), until: noon(5, 24) };
/** While a time is planned that the next release excludes, and in an outage over days that differ. */
const edits = { forth: Date.UTC(2031, 3, 22, 0, 30) - 500, back: noon(5, 21) };
const migrate = fileURLToPath(new URL("../../../functions/migrate.ts", import.meta.url));

/** Eleven weeks from one due time to the next; two releases with other holidays come, one of them in an outage. */
export const calendarProof: Proof = {
  name: "calendar",
  about:
    "11 weeks with holidays of three countries, each rule of exclusion, two changed lists, an outage and a pause, under kills: each time once",
  guards: ["era", "merged", "withdrawn"],
  minutesMax: 20,
  async run(context, list) {
    const hunted = await startHunted(context, {
      app: "calendar",
      chaos: true,
      sql: movedClockSql,
      env: { BELFRY_DISPATCH_WINDOW_MS: "1000", BELFRY_LOCK_LEASE_MS: "1000", BELFRY_PASS_MS: "5000" },
      killEveryMs: 4_000,
      schedulers: (system) => [dying(system), () => system.scheduler()],
      before: ({ pool }) => stand(pool, from),
    });
    const times = new CalendarTimes(from, end);
    const releases = [false, true].map((isNext) => schedulesOf(isNext).map((each) => each.spec("demo", "proof")));
    const rows = releases.flat().flatMap((spec) => times.rows(spec, from, end));
    const due = [...new Set(rows.flatMap((row) => (row.fires ? [row.nominalAt] : [])))].toSorted((a, b) => a - b);
    const each = Math.max(1, Math.round(1 / context.size));
    const stops = await live(
      hunted,
      due.filter((_, n) => n % each === 0),
      context.log,
    );
    const tables = await hunted.judged(list);
    const isPaused = (id: string, stop: number): boolean =>
      id === paused.id && stop > paused.from && stop <= paused.until;
    const [first = [], second = []] = releases;
    const wanted = first.flatMap((spec, n) => {
      const next = second[n] ?? spec;
      const isEdited = JSON.stringify(next) !== JSON.stringify(spec);
      const eras: Eras = isEdited
        ? [
            [spec, edits.forth],
            [next, edits.back],
            [spec, end],
          ]
        : [[spec, end]];
      return times.ledger(eras, { stops, isPaused });
    });
    await assess(list, hunted.system, wanted, tables);
    const died = hunted.system.processes.diedAt();
    list.expectNone(
      "a scheduler died at each place",
      points.scheduler.filter((point) => !died.includes(point)),
    );
    list.figure(`${stops.length} stops of the clock, ${died.length} schedulers died, ${hunted.seen()}`);
  },
};

/** The place where a task of this scheduler dies, if it comes there: the next one when one has died. */
function dying(system: System): () => SchedulerProcess {
  let place = 0;
  return () => {
    const task = system.scheduler({ BELFRY_CRASH_POINT: points.scheduler[place % points.scheduler.length] ?? "" });
    void task.ended.then(({ signal }) => (place += signal === "SIGKILL" ? 1 : 0));
    return task;
  };
}

/** From now on the clock stands at this instant. */
async function stand(pool: System["pool"], at: number): Promise<void> {
  const clock = movedClock(pool);
  await clock.set(0);
  await clock.advance(at - (await clock.now()));
}

/** Stops at the due times; what lies between stops is missed. @returns all stops. */
async function live(hunted: Hunted, due: readonly number[], log: (text: string) => void): Promise<readonly number[]> {
  const { system } = hunted;
  const { pauseSchedule } = system.runtime.ports.store;
  const stops = [from];
  const stopAt = async (at: number): Promise<void> => {
    await stand(system.pool, at);
    stops.push(at);
    await system.untilNone("all times to be decided", 120_000, "belfry.schedule where next_at <= belfry.now()");
  };
  const quietAt = async (at: number, then?: () => Promise<unknown>): Promise<void> => {
    await stopAt(at);
    await movedClock(system.pool).set(1);
    await hunted.untilEnded();
    await then?.();
  };
  const isDue = (at: number): boolean => at < outage.from || at > outage.until;
  const steps: readonly (readonly [number, () => Promise<void>])[] = [
    ...due.filter(isDue).map((at) => [at + lateMs, () => stopAt(at + lateMs)] as const),
    [edits.forth, () => editBefore(hunted, stopAt)],
    [paused.from, () => quietAt(paused.from, () => pauseSchedule(paused.id, { by: "ada", reason: null, until: null }))],
    [paused.until, () => quietAt(paused.until, () => pauseSchedule(paused.id, null))],
    [
      outage.from,
      () => hunted.away(() => stand(system.pool, edits.back).then(() => deploy(hunted, { isNext: false }))),
    ],
    [outage.until, () => quietAt(outage.until)],
    [end, () => quietAt(end)],
  ];
  for (const [n, [, step]] of steps.toSorted(([a], [b]) => a - b).entries()) {
    await step();
    if (n % 20 === 19) log(`${n + 1} of ${steps.length} stops`);
  }
  return stops;
}

/** Half a second before a time, which has its job already. */
async function editBefore(hunted: Hunted, stopAt: (at: number) => Promise<void>): Promise<void> {
  await stopAt(edits.forth);
  const planned = "belfry.occurrence where outcome = 'PLANNED' and nominal_at > belfry.now()";
  await until("a time to be planned", 120_000, async () => (await hunted.system.count(planned)) > 0);
  await deploy(hunted, { isNext: true });
}

/** By the function that a deployment invokes; the first one dies at some moment of it. */
async function deploy({ system: { processes, env }, random }: Hunted, { isNext }: { isNext: boolean }): Promise<void> {
  const release = { ...env, [newestVariable]: isNext ? "1" : "0" };
  const [first, second] = [1, 2].map(() =>
    createSandbox({ children: processes, name: "deployment", file: migrate, timeoutMs: 60_000, env: release }),
  );
  await first?.ready;
  void first?.invoke({ RequestType: "Update" }).catch(() => {});
  await letPass(random() * 300);
  first?.kill();
  await first?.ended;
  await second?.invoke({ RequestType: "Update" });
  await second?.stop(1_000);
}

async function assess(list: Checklist, system: System, wanted: readonly string[], { jobs }: Tables): Promise<void> {
  const rows = await system.rows<{ name: string; outcome: string; text: string }>(
    `select concat_ws(' ', schedule_id, belfry.ms(nominal_at)) as name, outcome::text, rtrim(concat_ws(' ', schedule_id, local_time || '/' || fold,
       belfry.ms(nominal_at), outcome, reason, coalesce(calendar, ''))) as text
     from belfry.occurrence where nominal_at <= belfry.at($1)`,
    [end],
  );
  const missing = (all: readonly string[], of: readonly string[]): readonly string[] => {
    const known = new Set(all);
    return of.filter((each) => !known.has(each));
  };
  const written = rows.map(({ text }) => text);
  const ran = jobs.filter(({ attempt }) => attempt > 0);
  const each = ran.map(({ scheduleId, scheduledFor }) => `${scheduleId} ${scheduledFor}`);
  const started = rows.filter(({ outcome }) => outcome === "FIRED" || outcome === "CAUGHT_UP").map(({ name }) => name);
  const failed = ran.filter(({ state }) => state !== "SUCCESS").map(({ id }) => id);
  list.expectNone("each time has its row", missing(written, wanted));
  list.expectNone("there is no other row", missing(wanted, written));
  list.expectNone("a time has a job that ran where it started", [...missing(each, started), ...missing(started, each)]);
  list.expect("no instant has two jobs", new Set(each).size === each.length, each.length - new Set(each).size);
  list.expectNone("each job that ran succeeded", failed);
  const outcomes = Map.groupBy(rows, ({ outcome }) => outcome);
  list.figure([...outcomes].map(([outcome, all]) => `${all.length} ${outcome}`).join(", "));
}
