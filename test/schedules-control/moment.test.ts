import { expect, test } from "vitest";
import { z } from "zod";
import { defineApp, defineFanOut, defineJob, defineSchedule, defineSweep, sql } from "../../src/compose/index.ts";
import { registry } from "../../src/define/definition.ts";
import type { Moment } from "../../src/define/moment.ts";
import { installDefinitions } from "../../src/schedule/install-schedules.ts";
import { backfill } from "../../src/insight/backfill.ts";
import { createSchedule, triggerSchedule, updateSchedule } from "../../src/insight/schedule-control.ts";
import { tick } from "../../src/schedule/tick.ts";
import { createWorker } from "../../src/run/worker.ts";
import { acknowledge, lane, world } from "../core/world.ts";
import { eachTest } from "../support/each-test.ts";

const minute = 60_000;
const options = { stage: "test" };
/** The test's clock begins at 2031-05-06T07:08:09Z, which is 21:08 of the day before in Honolulu. */
const evening = { cron: "10 21 * * *", timezone: "Pacific/Honolulu" } as const;
const honolulu = { day: "2031-05-05", timezone: "Pacific/Honolulu" };

/** A stage in memory with a fan-out, a sweep and a job, which tell what they were given. */
async function open() {
  const ports = world();
  const moments: Moment[] = [];
  const days: string[] = [];
  const one = defineJob({ id: "one", payload: z.object({ day: z.string() }), run: (p) => void days.push(p.day) });
  const common = { each: one, payload: () => ({ day: "" }), key: () => "k" };
  const fanOut = defineFanOut({
    ...common,
    id: "all-users",
    // oxlint-disable-next-line require-yield -- it only keeps what it was asked
    async *from(moment) {
      moments.push(moment);
    },
  });
  const sweep = defineSweep({
    ...common,
    id: "sweep",
    maxLateness: "60s",
    due(moment) {
      moments.push(moment);
      return sql`select 1 as id`;
    },
  });
  const inCode = defineSchedule({ id: "in-code", ...evening, run: one, payload: ({ day }) => ({ day }) });
  const app = defineApp({ name: "test", jobs: [one, fanOut, sweep], schedules: [inCode] });
  const known = registry([app]);
  await installDefinitions(ports, known, options);
  const worker = createWorker(ports, known, { ...options, worker: "w", lane });
  return {
    ports,
    known,
    moments,
    days,
    async liveFor(ms: number) {
      await tick(ports, known);
      await ports.clock.advance(ms);
      await tick(ports, known);
      for (let records = ports.queue.receive(lane, 10); records.length > 0; records = ports.queue.receive(lane, 10)) {
        acknowledge(ports, records, (await worker.handle(records, { remainingMs: () => 600_000 })).failed);
      }
    },
  };
}

const at = eachTest(open);

test.each(["all-users", "sweep"])(
  "%s on a schedule that people made knows its zone and its day there",
  async (kind) => {
    await createSchedule(at.ports, at.known, { id: "mine", kind, ...evening }, options);
    await at.liveFor(3 * minute);
    expect(at.moments[0]).toMatchObject(honolulu);
  },
);

test("a job of a schedule that people made has the payload that is stored with it", async () => {
  const mine = { id: "mine", kind: "one", ...evening, payload: { day: "stored" } };
  await createSchedule(at.ports, at.known, mine, options);
  await at.liveFor(3 * minute);
  expect(at.days.toSorted()).toEqual(["2031-05-05", "stored"]);
});

test("a backfilled time has the zone it was planned in, whatever an edit made of the schedule", async () => {
  const mine = { id: "mine", kind: "all-users" };
  const { decidedUntil } = await createSchedule(at.ports, at.known, { ...mine, ...evening, misfire: "skip" }, options);
  await at.ports.clock.advance(60 * minute);
  await tick(at.ports, at.known);
  await updateSchedule(at.ports, at.known, { ...mine, cron: "0 0 1 1 *", timezone: "Asia/Seoul" }, options);
  const window = { from: decidedUntil, to: decidedUntil + 10 * minute, dryRun: false, force: false, paceMs: null };
  expect((await backfill(at.ports, at.known, "mine", { ...window, ...options })).again).toBe(1);
  await at.liveFor(3 * minute);
  expect(at.moments).toMatchObject([{ ...honolulu, isCatchUp: true }]);
});

test("what is triggered by hand gets the zone and the day of the schedule, as its times do", async () => {
  for (const kind of ["all-users", "sweep"])
    await createSchedule(at.ports, at.known, { id: `my-${kind}`, kind, ...evening }, options);
  const made = await triggerSchedule(at.ports, at.known, "my-all-users", { ...options, key: "once" });
  await triggerSchedule(at.ports, at.known, "my-sweep");
  await triggerSchedule(at.ports, at.known, "in-code");
  await at.liveFor(0);
  expect(at.moments).toMatchObject([honolulu, honolulu]);
  expect(at.days).toEqual(["2031-05-05"]);
  await at.ports.clock.advance(minute);
  const again = await triggerSchedule(at.ports, at.known, "my-all-users", { ...options, key: "once" });
  expect(again).toEqual({ id: made.id, created: false });
});
