import { describe, expect, test } from "vitest";
import { checkApps, notesOf } from "../../src/define/check.ts";
import { type AppOptions, defineApp } from "../../src/define/define-app.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { defineSchedule, type ScheduleOptions } from "../../src/define/define-schedule.ts";
import { registry } from "../../src/define/definition.ts";
import { describe as line } from "../../src/define/problem.ts";
import { type CallerScope, checkScopes } from "../../src/define/scope.ts";

const job = (id: string, more: object = {}) => defineJob({ id, run: () => {}, ...more });
const schedule = (options: object) =>
  defineSchedule({ id: "s", run: job("j"), ...options } as unknown as ScheduleOptions<void>);
const check = (...apps: AppOptions[]): readonly string[] =>
  checkApps(apps.map(defineApp), "dev", ["dev", "prod"]).map(line);

describe("an app", () => {
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
      'lane "mail": lanes "mail" is given settings by apps "a" and "b"; keep them in one app',
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

test("a chain leads to a schedule with times of its own, and to itself never", () => {
  const run = job("j");
  const all = (...chains: readonly (readonly [string, string])[]) =>
    check({
      name: "a",
      schedules: [
        schedule({ id: "first", every: "1m", run }),
        ...chains.map(([id, before]) => schedule({ id, after: { schedule: before, within: "1h" }, run })),
      ],
    });
  expect(all(["second", "first"], ["third", "second"], ["also", "first"])).toEqual([]);
  expect(all(["a", "b"], ["b", "c"], ["c", "b"], ["d", "none"])).toEqual([
    'schedule "b": after.schedule "c" is a circle: b after c after b; leave one of them out',
    'schedule "c": after.schedule "b" is a circle: c after b after c; leave one of them out',
    'schedule "d": after.schedule "none" is no schedule of this project; name the id of one, or define it',
  ]);
  const long = Array.from({ length: 10 }, (_, n) => [`s${n + 1}`, n === 0 ? "first" : `s${n}`] as const);
  expect(all(...long)).toEqual(['schedule "s10": after.schedule "s9" is a chain of more than 10; shorten it']);
});

test("two jobs with one id are named with their apps", () => {
  expect(check({ name: "a", jobs: [job("mail")] }, { name: "b", jobs: [job("mail")] })).toEqual([
    'job "mail": id "mail" is used by 2 definitions in app "a" and "b"; rename all but one',
  ]);
});

test("one job may belong to two apps", () => {
  const shared = job("mail");
  expect(check({ name: "a", jobs: [shared] }, { name: "b", jobs: [shared] })).toEqual([]);
});

test("two schedules with one id are a problem", () => {
  const twice = () => defineSchedule({ id: "s", every: "1m", run: job("j") });
  const shared = job("j");
  const schedules = [
    defineSchedule({ id: "s", every: "1m", run: shared }),
    defineSchedule({ id: "s", every: "2m", run: shared }),
  ];
  expect(check({ name: "a", schedules })).toEqual([
    'schedule "s": id "s" is used by 2 definitions in app "a"; rename all but one',
  ]);
  expect(check({ name: "a", schedules: [twice(), twice()] })).toHaveLength(2);
});

test("two apps with one name are a problem", () => {
  expect(check({ name: "a" }, { name: "a" })).toEqual([
    'app "a": id "a" is used by 2 definitions in app "a"; rename all but one',
  ]);
});

test("a job on a lane its app does not have names the lanes there are", () => {
  expect(check({ name: "a", jobs: [job("mail", { lane: "post" })], lanes: { push: {} } })).toEqual([
    'job "mail": lane "post" is not a lane of app "a"; add lanes: { "post": {} } to the app, or use one of default, push',
  ]);
});

test.each([
  [{ mail: { concurrency: 1 } }, 'lane "mail" of app "a": concurrency 1 must be a whole number from 2'],
  [{ mail: { batchSize: 11 } }, "batchSize 11 must be a whole number from 1 to 10"],
  [{ mail: { concurrency: { default: 2, dev: 0 } } }, "concurrency 0 must be"],
  [
    { mail: { batchSize: { prd: 5 } } },
    "batchSize.prd 5 names a stage that does not exist; use one of dev, prod, default",
  ],
  [{ Mail: {} }, 'name "Mail" must be 1 to 32 characters'],
])("lane settings %j are a problem", (lanes, expected) => {
  const found = check({ name: "a", lanes });
  expect(found).toHaveLength(1);
  expect(found[0]).toContain(expected);
});

test("a per-stage value for a stage that does not exist is a slip of the pen", () => {
  const schedule = defineSchedule({ id: "s", every: "1m", run: job("j"), enabled: { prd: true } });
  expect(check({ name: "a", schedules: [schedule] })).toEqual([
    'schedule "s": enabled.prd true names a stage that does not exist; use one of dev, prod, default',
  ]);
});

test("problems of apps, jobs, schedules and lanes come all together", () => {
  const broken = job("j", { timeout: "20m", lane: "nowhere" });
  const schedules = [defineSchedule({ id: "S", cron: "0 0 31 2 *", timezone: "Mars/Base", run: broken })];
  expect(check({ name: "My App", schedules, lanes: { mail: { concurrency: 1 } } })).toHaveLength(7);
});
