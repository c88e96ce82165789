import { expect, onTestFinished, test } from "vitest";
import { backfill } from "../../src/insight/backfill.ts";
import { registry } from "../../src/define/definition.ts";
import { type Cron, defineSchedule } from "../../src/define/define-schedule.ts";
import { freshDatabase } from "../support/database.ts";
import { world } from "../schedules/world.ts";
import { appOf, control, hour, midnight, minute, work } from "./stage.ts";

const often = (cron: Cron) => defineSchedule({ id: "s", cron, timezone: "UTC", run: work, misfire: "skip" });

test("two edits and a backfill across both: each version's times, each run once, after a dry run that writes nothing", async () => {
  const { store, clock, close } = await freshDatabase();
  onTestFinished(close);
  await clock.set(0);
  await clock.advance(midnight - (await store.now()));
  const app = appOf(often("*/10 * * * *"));
  const at = world([app], { store, start: midnight, advance: (ms) => clock.advance(ms) });
  const live = async (until: number) => {
    while (at.now() < until) {
      await at.advance(Math.min(5 * minute, until - at.now()));
      await at.tick();
      await at.work();
    }
  };
  const edit = (cron: Cron) => store.installSchedules([often(cron).spec("test", "test")]);
  await at.install();
  await live(midnight + 35 * minute);
  await at.advance(25 * minute);
  await edit("5-59/20 * * * *");
  await at.advance(25 * minute);
  await live(midnight + 105 * minute);
  await at.advance(15 * minute);
  await edit("0 * * * *");
  await at.advance(30 * minute);
  await live(midnight + 3 * hour + minute);

  const window = { from: midnight + minute, to: midnight + 3 * hour, force: false, paceMs: null };
  const run = (dryRun = false) => backfill(at.ports, registry([app]), "s", { ...window, ...control, dryRun });
  const before = await at.ledger("s");
  const dry = await run(true);
  expect([dry.added, dry.again, await at.ledger("s")]).toEqual([0, 0, before]);
  const report = await run();
  expect(report.times).toEqual(dry.times);
  expect(report.times.map((time) => [time.version, (time.nominalAt - midnight) / minute])).toEqual([
    ...[10, 20, 30, 40, 50, 60].map((each) => [1, each]),
    ...[65, 85, 105].map((each) => [2, each]),
    ...[180].map((each) => [3, each]),
  ]);
  expect(report.added + report.again).toBe(report.times.filter((time) => time.runs).length);
  expect(report.added + report.again).toBeGreaterThan(2);
  for (let round = 0; round < 50; round++) {
    await at.advance(10_000);
    await at.work();
  }
  const rows = await at.ledger("s");
  const ran = rows.filter((row) => row.outcome === "FIRED" || row.outcome === "CAUGHT_UP");
  const wanted = report.times.map((time) => time.nominalAt);
  expect(ran.map((row) => row.nominalAt)).toEqual(expect.arrayContaining(wanted));
  expect(new Set(ran.map((row) => row.nominalAt)).size).toBe(ran.length);
  expect(at.ran.length).toBe(ran.length);
  expect(await run()).toMatchObject({ added: 0, again: 0 });
});
