import { expect, test } from "vitest";
import { checkApps } from "../../src/core/define/check.ts";
import { type AppOptions, defineApp } from "../../src/core/define/define-app.ts";
import { defineJob } from "../../src/core/define/define-job.ts";
import { defineSchedule } from "../../src/core/define/define-schedule.ts";
import { registry } from "../../src/core/define/definition.ts";
import { describe as line } from "../../src/core/define/problem.ts";

const stages = ["dev", "prod"];
const check = (...apps: AppOptions[]): readonly string[] => checkApps(apps.map(defineApp), "dev", stages).map(line);
const job = (id: string, more: object = {}) => defineJob({ id, run: () => {}, ...more });

test("apps in order have no problems, and a scheduled job belongs to its app without being listed", () => {
  const hello = job("hello");
  const app = defineApp({ name: "ok", schedules: [defineSchedule({ id: "s", every: "1m", run: hello })] });
  expect(checkApps([app], "dev", stages)).toEqual([]);
  expect(registry([app]).jobs.has("hello")).toBe(true);
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

test("a lane given its size twice is a problem, a lane only shared is not", () => {
  const size = { mail: { concurrency: 2 } };
  expect(check({ name: "a", lanes: size }, { name: "b", lanes: size })[0]).toContain(
    'is given a size by apps "a" and "b"',
  );
  expect(check({ name: "a", lanes: size }, { name: "b", lanes: { mail: {} } })).toEqual([]);
});

test("a per-stage value for a stage that does not exist is a slip of the pen", () => {
  const schedule = defineSchedule({ id: "s", every: "1m", run: job("j"), enabled: { prd: true } });
  expect(check({ name: "a", schedules: [schedule] })).toEqual([
    'schedule "s": enabled.prd true names a stage that does not exist; use one of dev, prod, default',
  ]);
});

test("a rate without a value for a stage it is on in is a problem, and none where it is off", () => {
  const schedules = (enabled: Record<string, boolean>) => [
    defineSchedule({ id: "s", every: { prod: "1m" }, run: job("j"), enabled }),
  ];
  expect(check({ name: "a", schedules: schedules({ prod: true }) })).toEqual([]);
  expect(check({ name: "b", schedules: schedules({ dev: true }) })[0]).toContain(
    'has no value for stage "dev"; add "dev" or "default"',
  );
});

test("problems of apps, jobs, schedules and lanes come all together", () => {
  const broken = job("j", { timeout: "20m", lane: "nowhere" });
  const schedules = [defineSchedule({ id: "S", cron: "0 0 31 2 *", timezone: "Mars/Base", run: broken })];
  expect(check({ name: "My App", schedules, lanes: { mail: { concurrency: 1 } } })).toHaveLength(7);
});
