import { describe, expect, test } from "vitest";
import { checkApps, notesOf } from "../../src/core/define/check.ts";
import { type AppOptions, defineApp } from "../../src/core/define/define-app.ts";
import { defineJob } from "../../src/core/define/define-job.ts";
import { defineSchedule, type ScheduleOptions } from "../../src/core/define/define-schedule.ts";
import { registry } from "../../src/core/define/definition.ts";
import { describe as line } from "../../src/core/define/problem.ts";
import { type CallerScope, checkScopes } from "../../src/core/define/scope.ts";

const job = (id: string, more: object = {}) => defineJob({ id, run: () => {}, ...more });
const schedule = (options: object) =>
  defineSchedule({ id: "s", run: job("j"), ...options } as unknown as ScheduleOptions<void>);
const check = (...apps: AppOptions[]): readonly string[] =>
  checkApps(apps.map(defineApp), "dev", ["dev", "prod"]).map(line);

describe("an app", () => {
  test("without tables or routes has null for each", () => {
    expect(defineApp({ name: "a" })).toMatchObject({
      jobs: [],
      schedules: [],
      lanes: {},
      migrations: null,
      routes: null,
    });
  });

  test("keeps its tables and routes", () => {
    const given = { migrations: new URL("file:///sql/"), routes: { fetch: () => new Response() } };
    const app = defineApp({ name: "a", ...given });
    expect(app.migrations).toBe(given.migrations);
    expect(app.routes).toBe(given.routes);
  });

  test("that no define function made may leave out problems, notes and settings by stage", () => {
    const { problems: _problems, ...app } = defineApp({ name: "a" });
    const { problems: _found, notes: _notes, staged: _staged, ...bare } = schedule({ every: "1m" });
    const plain = { ...app, schedules: [bare] };
    expect(checkApps([plain], "dev")).toEqual([]);
    expect(notesOf([plain])).toEqual([]);
  });

  test("has the notes of its schedules, each with the schedule's id", () => {
    const noted = schedule({ cron: "0 0 13 * 5", timezone: "UTC" });
    expect(noted.notes).not.toEqual([]);
    expect(notesOf([defineApp({ name: "a", schedules: [noted] })])).toEqual(
      noted.notes?.map((note) => `schedule "s": ${note}`),
    );
  });
});

describe("apps together", () => {
  test.each([
    ["batchSize", "batchSize"],
    ["concurrency", "concurrency"],
    ["batchSize", "concurrency"],
  ])("give a lane its size once: %s and %s are two", (one, other) => {
    const lanes = (field: string) => ({ mail: { [field]: 2 } });
    expect(check({ name: "a", lanes: lanes(one) }, { name: "b", lanes: lanes(other) })).toEqual([
      'lane "mail": lanes "mail" is given a size by apps "a" and "b"; keep the size in one of them',
    ]);
    expect(check({ name: "a", lanes: lanes(one) }, { name: "b", lanes: { mail: {} } })).toEqual([]);
  });

  test("have each id once, and one definition as often as they like", () => {
    const mail = job("mail");
    const own = schedule({ every: "1m" });
    const shared = [defineApp({ name: "a", jobs: [mail], schedules: [own] }), defineApp({ name: "b", jobs: [mail] })];
    expect([...registry([...shared, defineApp({ name: "c", schedules: [own] })]).jobs.keys()]).toEqual(["mail", "j"]);
    const again = (more: Partial<AppOptions>) => () => registry([...shared, defineApp({ name: "c", ...more })]);
    expect(again({ jobs: [job("mail")] })).toThrow('duplicate job id "mail": ids are unique across apps');
    expect(again({ schedules: [schedule({ every: "1m", run: mail })] })).toThrow(
      'duplicate schedule id "s": ids are unique across apps',
    );
  });
});

describe("a schedule in a stage", () => {
  const found = (options: object): readonly string[] => check({ name: "a", schedules: [schedule(options)] });
  const noValue = `schedule "s": every {"prod":"1m"} has no value for stage "dev"; add "dev" or "default", or leave the stage out of enabled`;

  test.each<[object, readonly string[]]>([
    [{ every: { prod: "1m" } }, [noValue]],
    [{ every: { prod: "1m" }, enabled: true }, [noValue]],
    [{ every: { prod: "1m" }, enabled: { default: true } }, [noValue]],
    [{ every: { prod: "1m" }, enabled: { prod: true } }, []],
    [{ every: { default: "1m" } }, []],
    [{ every: "1m" }, []],
  ])("%j", (options, expected) => {
    expect(found(options)).toEqual(expected);
  });

  test("with a rule of its own keeps to what rules can do, and only where it is on", () => {
    const tooOften = { every: "1s", launch: "rule" };
    expect(found(tooOften)).toEqual([expect.stringContaining('make it at least 1m in stage "dev", or use launch: ')]);
    expect(found({ ...tooOften, enabled: false })).toEqual([]);
    expect(found({ ...tooOften, launch: "tick" })).toEqual([]);
  });

  test("a launch in a stage that does not exist is named", () => {
    expect(found({ every: "1m", launch: { prd: "tick" } })).toEqual([
      'schedule "s": launch.prd "tick" names a stage that does not exist; use one of dev, prod, default',
    ]);
  });
});

describe("the scopes of a stage", () => {
  const apps = () => [
    defineApp({ name: "shop", jobs: [job("mail", { lane: "post" })], lanes: { bulk: {} } }),
    defineApp({ name: "bank", jobs: [job("pay")] }),
  ];
  const found = (...scopes: readonly Omit<CallerScope, "callers">[]): readonly string[] =>
    checkScopes({ name: "dev", scopes: scopes.map((scope) => ({ callers: ["local"], ...scope })) }, apps()).map(line);

  test("name apps and lanes there are", () => {
    expect(checkScopes({ name: "dev" }, apps())).toEqual([]);
    expect(found({})).toEqual([]);
    expect(found({ apps: ["shop", "bank"], lanes: ["default", "bulk", "post"] })).toEqual([]);
  });

  test("name no other", () => {
    expect(found({ apps: ["shop", "shp"] }, { lanes: ["shop", "post"] })).toEqual([
      'stage "dev": scopes.apps "shp" must be of shop, bank',
      'stage "dev": scopes.lanes "shop" must be of default, bulk, post',
    ]);
  });
});
