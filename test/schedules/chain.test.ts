import { describe, expect, test } from "vitest";
import { defineApp } from "../../src/define/define-app.ts";
import { defineCalendar } from "../../src/define/define-calendar.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { defineSchedule } from "../../src/define/define-schedule.ts";
import type { ScheduleDefinition } from "../../src/define/definition.ts";
import type { JobId } from "../../src/machine/job.ts";
import type { Settlement } from "../../src/machine/store.ts";
import { sendOutbox } from "../../src/run/send.ts";
import { aRun, aTask, failed } from "../contract/store/run-fixture.ts";
import { settlementOf } from "../contract/store/fixture.ts";
import { testDatabase } from "../support/database.ts";
import type { TestStore } from "../support/looks.ts";
import { hour, midnight, minute } from "./spec.ts";
import { type Ground, referenceGround, world } from "./world.ts";

const work = defineJob({ id: "work", run: () => {} });
const close = defineJob({ id: "close", run: () => {} });

const hourly = (over: object = {}): ScheduleDefinition =>
  defineSchedule({ id: "bill", cron: "0 * * * *", timezone: "Asia/Seoul", run: work, ...over } as never);
const chain = (over: object = {}, after: object = {}): ScheduleDefinition =>
  defineSchedule({
    id: "close-day",
    after: { schedule: "bill", within: "90m", ...after },
    run: close,
    ...over,
  } as never);

const lacking = (what: string): never => {
  throw new Error(what);
};

async function postgresGround(start: number): Promise<Ground<TestStore>> {
  const { store, clock } = await testDatabase();
  await clock.set(0);
  await clock.advance(start - (await store.now()));
  return { store, start, advance: (ms) => clock.advance(ms) };
}

const grounds: Readonly<Record<string, (start: number) => Promise<Ground<TestStore>>>> = {
  "the reference store": async (start) => referenceGround(start),
  Postgres: postgresGround,
};

/** At midnight, with the schedules installed and the jobs of each time worked by hand. */
async function startedOn(ground: Ground<TestStore>, ...schedules: ScheduleDefinition[]) {
  const appOf = (all: readonly ScheduleDefinition[]) =>
    defineApp({ name: "test", jobs: [work, close], schedules: [...all] });
  const at = world([appOf(schedules)], ground);
  await at.install();
  await at.tick();
  const claim = async (id: JobId) => {
    const message = at.sent.findLast(({ jobId }) => jobId === id);
    const { claimed } = await at.store.claim(message === undefined ? [] : [message], { worker: "w", alone: true });
    return claimed.find(({ state }) => state === "RUNNING");
  };
  const jobAt = async (clock: string, id = "bill"): Promise<JobId> =>
    (await at.ledger(id)).find(({ localTime }) => localTime.endsWith(clock))?.jobId ?? lacking(`no job at ${clock}`);
  return {
    ...at,
    claim,
    jobAt,
    async end(clock: string, over: Partial<Settlement> = {}) {
      const job = (await claim(await jobAt(clock))) ?? lacking(`the job of ${clock} cannot start`);
      await at.store.settle([settlementOf(job, over)], { worker: "w" });
    },
    /** Goes on minute by minute, as a scheduler does. */
    async until(ms: number) {
      while (at.now() < midnight + ms) {
        await at.advance(5 * minute);
        await at.tick();
      }
    },
    closes: async (id = "close-day") =>
      (await at.ledger(id)).map(
        ({ localTime, outcome, reason }) => `${localTime.slice(11)} ${outcome}${reason === null ? "" : ` ${reason}`}`,
      ),
  };
}

describe.each(Object.keys(grounds))("a chain, on %s", (name) => {
  const started = async (...schedules: ScheduleDefinition[]) =>
    await startedOn(await (grounds[name] ?? lacking(name))(midnight), ...schedules);

  test("fires at a time that is done, once, at its reading and with its job due at once", async () => {
    const at = await started(hourly(), chain());
    await at.until(hour);
    expect(await at.closes()).toEqual([]);
    await at.end("10:00");
    expect(await at.tick()).toMatchObject({ schedules: 1, occurrences: 1 });
    expect(await at.tick()).toMatchObject({ schedules: 0, occurrences: 0 });
    const [row] = await at.ledger("close-day");
    expect(row).toMatchObject({
      localTime: "2026-11-21T10:00",
      timezone: "Asia/Seoul",
      nominalAt: midnight + hour,
      outcome: "PLANNED",
    });
    expect(await at.store.job(await at.jobAt("10:00", "close-day"))).toMatchObject({ kind: "close", state: "QUEUED" });
  });

  test("waits for the run that the job started, and a later time does not wait for it", async () => {
    const at = await started(hourly(), chain({}, { within: "6h" }));
    await at.until(hour);
    const starter = (await at.claim(await at.jobAt("10:00"))) ?? lacking("no claim");
    const { runId } = await at.store.startRun(aRun({ starterId: starter.jobId, tasks: [aTask("a")] }));
    await at.store.settle([settlementOf(starter)], { worker: "w" });
    await at.until(2 * hour);
    await at.end("11:00");
    await at.tick();
    expect(await at.closes()).toEqual(["11:00 PLANNED"]);
    const [task] = await at.store.jobs({ kind: "settlement.task" });
    await at.store.cancel([task?.id ?? lacking("no task")], {});
    await at.store.resolve({ runs: [runId], limit: 10 });
    await at.tick();
    expect(await at.closes()).toEqual(["11:00 PLANNED"]);
    await at.until(8 * hour);
    expect((await at.closes()).slice(0, 2)).toEqual(["10:00 SKIPPED not-followed", "11:00 PLANNED"]);
  });

  test("a failed time waits for a retry until its time is over; what succeeds later is not followed", async () => {
    const at = await started(hourly({ startAt: "2026-11-21T01:00:00Z", endAt: "2026-11-21T03:00:00Z" }), chain());
    await at.until(2 * hour);
    for (const clock of ["10:00", "11:00"]) await at.end(clock, failed);
    expect(await at.closes()).toEqual([]);
    await at.until(2.5 * hour + 5 * minute);
    expect(await at.closes()).toEqual(["10:00 SKIPPED not-followed"]);
    for (const clock of ["10:00", "11:00"]) {
      const { aftermath } = await at.store.retry([await at.jobAt(clock)], {});
      await sendOutbox(at.ports, aftermath.outbox);
      await at.work();
    }
    await at.tick();
    expect(await at.closes()).toEqual(["10:00 SKIPPED not-followed", "11:00 PLANNED"]);
  });

  test("on `end` follows one that failed", async () => {
    const at = await started(hourly(), chain({}, { on: "end" }));
    await at.until(hour);
    await at.end("10:00", failed);
    await at.tick();
    expect(await at.closes()).toEqual(["10:00 PLANNED"]);
  });

  test("takes over what became of times without a job, and leads a chain of its own", async () => {
    const again = defineSchedule({ id: "report", after: { schedule: "close-day", within: "6h" }, run: close });
    const at = await started(hourly({ misfire: "latest" }), chain({}, { within: "6h" }), again);
    await at.store.pauseSchedule("bill", { by: "me", reason: null, until: null });
    await at.until(hour);
    await at.work();
    await at.store.pauseSchedule("bill", null);
    await at.tick();
    const first = ["10:00 SKIPPED not-followed"];
    expect(await at.closes()).toEqual(first);
    await at.tick();
    expect(await at.closes("report")).toEqual(first);
    await at.advance(4 * hour);
    await at.tick();
    await at.work();
    for (let n = 0; n < 2; n += 1) {
      await at.tick();
      await at.work();
    }
    const rows = ["11:00", "12:00", "13:00"].map((clock) => `${clock} COALESCED into 2026-11-21T14:00`);
    expect(await at.closes()).toEqual([...first, ...rows, "14:00 CAUGHT_UP"]);
    expect(await at.closes("report")).toEqual([...first, ...rows, "14:00 CAUGHT_UP"]);
  });

  test("has its own period, calendar and pause, and an edit goes on with what it waits for", async () => {
    const none = defineCalendar({ id: "closed", dates: ["2026-11-21"] });
    const at = await started(
      hourly(),
      chain({ endAt: "2026-11-21T02:00:00Z" }),
      chain({ id: "by-day", except: none }),
      chain({ id: "paused" }),
    );
    await at.store.pauseSchedule("paused", { by: "me", reason: null, until: null });
    await at.until(hour);
    const spec = chain({ endAt: "2026-11-21T02:00:00Z" }, { on: "end" }).spec("test", "test");
    const specs = (await at.store.schedules()).map((row) => (row.id === spec.id ? spec : row.spec));
    await at.store.installSchedules(specs);
    await at.until(2 * hour);
    for (const clock of ["10:00", "11:00"]) await at.end(clock, clock === "10:00" ? failed : {});
    await at.tick();
    await at.work();
    expect(await at.closes()).toEqual(["10:00 FIRED"]);
    expect(await at.closes("by-day")).toEqual(["10:00 SKIPPED excluded", "11:00 SKIPPED excluded"]);
    expect(await at.closes("paused")).toEqual(["11:00 SKIPPED paused"]);
  });

  test("of a newer release, with a job that this process lacks, is left to the processes that have it", async () => {
    const at = await started(hourly(), chain());
    const newer = chain({ run: defineJob({ id: "close-better", run: () => {} }) }).spec("test", "test");
    await at.store.installSchedules(
      (await at.store.schedules()).map((row) => (row.id === newer.id ? newer : row.spec)),
    );
    await at.until(hour);
    await at.end("10:00");
    expect(await at.tick()).toMatchObject({ undecided: 1, occurrences: 0 });
    expect(await at.closes()).toEqual([]);
  });
});
