import { expect, test } from "vitest";
import { registry } from "../../src/define/definition.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { defineSchedule } from "../../src/define/define-schedule.ts";
import { installDefinitions } from "../../src/schedule/install-schedules.ts";
import { belfry } from "../cli/harness.ts";
import { testDatabase } from "../support/database.ts";
import { appOf, capped, stage, work } from "./stage.ts";
import { aPause } from "../support/pause.ts";

const schedule = (id: string, every: `${number}m`) => defineSchedule({ id, every, run: work });
const said = (differences: readonly { id: string; what: string }[]) =>
  differences.map(({ id, what }) => `${id} ${what}`).toSorted((a, b) => (a < b ? -1 : 1));

test("a start says what its code changes and what people changed", async () => {
  const at = await stage([schedule("kept", "5m"), schedule("slower", "5m"), schedule("gone", "5m")]);
  const spec = (id: string) => schedule(id, "5m").spec("test", "test");
  await at.store.createSchedule(spec("by-hand"));
  await at.store.createSchedule(spec("taken"));
  await at.store.pauseSchedule("kept", aPause);
  await at.store.installSchedules([{ ...spec("elsewhere"), app: "other" }]);
  const next = defineApp({
    name: "test",
    schedules: [schedule("kept", "5m"), schedule("slower", "9m"), schedule("added", "1m")],
  });
  const { differences } = await installDefinitions(at.ports, registry([next]), { stage: "test" });
  expect(said(differences)).toEqual([
    "added new",
    "by-hand api",
    "gone removed",
    "kept paused",
    "slower changed",
    "taken api",
  ]);
  expect(differences.find((each) => each.id === "slower")?.message).toBe(
    'schedule "slower" changes its expression (version 2)',
  );
  const again = await installDefinitions(at.ports, registry([next]), { stage: "test" });
  expect(said(again.differences)).toEqual(["by-hand api", "kept paused", "taken api"]);
});

test("a system that is alone on its database removes what another stage left there; beside others it stays", async () => {
  const at = await stage([schedule("kept", "5m")]);
  await at.store.installSchedules([{ ...schedule("left", "5m").spec("test", "test"), app: "other" }]);
  await at.store.createSchedule(schedule("by-hand", "5m").spec("test", "test"));
  const app = registry([defineApp({ name: "test", schedules: [schedule("kept", "5m")] })]);
  const ids = async () => (await at.store.schedules()).map(({ id }) => id).toSorted();
  await installDefinitions(at.ports, app, { stage: "test" });
  expect(await ids()).toEqual(["by-hand", "kept", "left"]);
  await installDefinitions(at.ports, app, { stage: "test", isAlone: true });
  expect(await ids()).toEqual(["by-hand", "kept"]);
});

test("check compares with the database it knows, and says when that does not answer", async () => {
  const db = await testDatabase();
  const check = (url: string) => belfry(["check", "--stage", "prod"], { env: { DATABASE_URL: url } });
  await db.store.createSchedule(schedule("by-hand", "5m").spec("test", "test"));
  const seen = await check(db.url);
  expect(seen.out).toContain('  database: schedule "by-hand" was made through the API; code does not know it');
  expect(seen.code).toBe(0);
  const away = await check("postgresql://none@127.0.0.1:1/none");
  expect(away).toMatchObject({ code: 0, out: expect.stringContaining("was not compared") });
});

test("no schedule is written before the slots that its jobs name", async () => {
  const at = await stage([]);
  const definitions = registry([appOf(defineSchedule({ id: "nightly", every: "1h", run: capped, overlap: "skip" }))]);
  const away = { ...at.store, installSlots: () => Promise.reject(new Error("away")) };
  await expect(installDefinitions({ store: away }, definitions, { stage: "test" })).rejects.toThrow("away");
  expect(await at.store.schedules()).toEqual([]);
  await installDefinitions({ store: at.store }, definitions, { stage: "test" });
  expect(await at.store.schedules()).toMatchObject([{ id: "nightly" }]);
});
