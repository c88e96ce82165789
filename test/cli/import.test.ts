import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import type { AppDefinition } from "../../src/define/definition.ts";
import { freshDatabase } from "../support/database.ts";
import { foreignQueues } from "./foreign-queues.ts";
import { belfry, serveApi } from "./harness.ts";
import { emptyFolder } from "../support/empty-folder.ts";

const core = new URL("../../src/compose/index.ts", import.meta.url).href;

interface Answer {
  readonly schedules: readonly { readonly id: string; readonly next: readonly string[] }[];
  readonly refused: readonly { readonly what: string; readonly why: string }[];
  /** The module. */
  readonly code: string;
  readonly waiting: readonly { readonly kind: string; readonly count: number }[];
}

/** What an import makes of a file `export`: its answer, and the app of the module that it wrote. */
async function imported(args: readonly string[], text = "") {
  const folder = emptyFolder();
  writeFileSync(join(folder, "export"), text);
  const { code, json, err } = await belfry(["import", ...args, "--out", "made.ts", "--json"], { folder });
  expect({ code, err: code === 0 ? "" : err }).toEqual({ code: 0, err: "" });
  const file = join(folder, "made.ts");
  writeFileSync(
    file,
    readFileSync(file, "utf8")
      .replace('"belfry"', JSON.stringify(core))
      .replace('"zod"', JSON.stringify(import.meta.resolve("zod"))),
  );
  const { default: app } = (await import(pathToFileURL(file).href)) as { default: AppDefinition };
  const specs = app.schedules.map((schedule) => schedule.spec("dev", app.name));
  return { answer: json as unknown as Answer, app, specs };
}

test("a crontab becomes schedules with its zone, and what no schedule can say is named with its reason", async () => {
  const crontab = `MAILTO=ops@example.org
CRON_TZ=Asia/Seoul
# nightly
30 2 * * 1-5   root  /usr/local/bin/backup.sh --all
@daily root backup.sh
@reboot root warm-up
61 * * * * root never
half a line
`;
  const { answer, specs } = await imported(["crontab", "export", "--system"], crontab);
  expect(specs).toMatchObject([
    { id: "backup", expression: { form: "cron", cron: "30 2 * * 1-5" }, timezone: "Asia/Seoul" },
    { id: "backup-2", timezone: "Asia/Seoul" },
  ]);
  expect(answer.schedules[1]?.next).toHaveLength(5);
  for (const time of answer.schedules[1]?.next ?? []) expect(time).toMatch(/T15:00:00.000Z$/);
  expect(answer.refused.map(({ why }) => why)).toEqual([
    expect.stringContaining("lane's environment"),
    expect.stringContaining("start of a machine"),
    expect.stringContaining("61"),
    expect.stringContaining("five fields"),
  ]);
});

test("schedules and rules of EventBridge keep their zone, window, input and state", async () => {
  const schedules = [
    {
      Name: "Nightly_Report",
      ScheduleExpression: "cron(0 3 * * ? *)",
      ScheduleExpressionTimezone: "Europe/Paris",
      FlexibleTimeWindow: { Mode: "FLEXIBLE", MaximumWindowInMinutes: 15 },
      State: "DISABLED",
      Target: { Arn: "arn:aws:lambda:eu-west-1:111122223333:function:report", Input: '{"all":true}' },
    },
    { Name: "poll", ScheduleExpression: "rate(5 minutes)", State: "ENABLED" },
    { Name: "listed-only", Target: { Arn: "arn" } },
    { Name: "once", ScheduleExpression: "at(2031-01-01T08:00:00)", ScheduleExpressionTimezone: "Europe/Paris" },
  ];
  const { answer, specs } = await imported(["eventbridge", "export"], JSON.stringify({ Schedules: schedules }));
  expect(specs).toMatchObject([
    {
      id: "nightly-report",
      timezone: "Europe/Paris",
      enabled: false,
      payload: { all: true },
      spread: { withinMs: 900_000 },
    },
    { id: "poll", expression: { form: "every", everyMs: 300_000 } },
  ]);
  expect(answer.refused.map(({ why }) => why)).toEqual([
    expect.stringContaining("get-schedule"),
    expect.stringContaining("write its instant"),
  ]);
});

test("pg-boss: jobs that wait, schedules and retries are said, and what runs there or waits for others is not moved", async () => {
  const { pool, url: database } = await queues();
  await pool.query("insert into pgboss.job (name) values ('sendMail')");
  const { answer, app, specs } = await imported(["pg-boss", "--database", database]);
  expect(answer.waiting).toMatchObject([
    { kind: "greet", count: 2 },
    { kind: "sendmail-754936", count: 1 },
  ]);
  expect(answer.refused).toEqual([
    { what: "1 of greet", why: expect.stringContaining("runs there now") },
    { what: "1 of greet", why: expect.stringContaining("write a graph") },
    { what: "greet rule", why: expect.stringContaining("recurrence rule") },
  ]);
  expect(app.jobs.map(({ id, retry }) => [id, retry.maxAttempts])).toEqual([
    ["greet", 4],
    ["sendmail-754936", 4],
  ]);
  expect(specs).toMatchObject([
    { id: "greet", job: { kind: "greet" }, timezone: "Asia/Seoul", payload: { name: "Ada" } },
  ]);
  await pool.query("drop schema pgboss cascade");
  const gone = await belfry(["import", "pg-boss", "--database", database]);
  expect(gone).toMatchObject({
    code: 1,
    err: expect.stringContaining('no pg-boss tables in schema "pgboss": --schema names another'),
  });
  for (const other of ["nonsense", "mysql://app:secret@localhost/app"]) {
    const { code, err } = await belfry(["import", "pg-boss", "--database", other]);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("--database must be a postgres:// URL") });
    expect(err).not.toContain("secret");
  }
  const port = await belfry(["import", "pg-boss", "--database", "postgres://app:secret@localhost:99999/app"]);
  expect(port).toMatchObject({ code: 1, err: expect.not.stringContaining("secret") });
});

test("the id of a job follows from the name of its queue alone, and no two are alike, nor are their constants", async () => {
  const { pool, url: database } = await queues();
  const ids: Readonly<Record<string, string>> = {
    "send-mail": "send-mail",
    send_mail: "send_mail",
    "billing/send": "billing-send-HEX",
    "mail/send": "mail-send-HEX",
    sendMail: "sendmail-HEX",
    sendmail: "sendmail",
    "123": "job-HEX",
    초대: "job-HEX",
    job: "job",
    ["a".repeat(64)]: "a".repeat(64),
    ["a".repeat(65)]: `${"a".repeat(57)}-HEX`,
  };
  const jobsOf = async () => {
    const { code } = (await imported(["pg-boss", "--database", database])).answer;
    const written = code.matchAll(/id: "([^"]+)"[^]*?not moved yet: ([^"]+)"/g);
    return Object.fromEntries(Array.from(written, ([, id = "", name = ""]) => [name, id]));
  };
  await pool.query("delete from pgboss.schedule");
  await pool.query("delete from pgboss.job");
  const add = (names: readonly string[]) =>
    pool.query("insert into pgboss.job (name) select unnest($1::text[])", [names]);
  await add(Object.keys(ids));
  const together = await jobsOf();
  expect(new Set(Object.values(together)).size).toBe(Object.keys(ids).length);
  for (const [name, id] of Object.entries(ids)) {
    expect(together[name]).toMatch(new RegExp(`^${id.replace("HEX", "[\\da-f]{6}")}$`));
    await pool.query("delete from pgboss.job");
    await add([name]);
    expect(await jobsOf()).toEqual({ [name]: together[name] });
  }
  await add(["sendMail", "sendmail-754936"]);
  const alike = await belfry(["import", "pg-boss", "--database", database]);
  expect(alike).toMatchObject({ code: 1, err: expect.stringContaining("rename one") });
});

test.each([
  ["pg-boss", "update pgboss.job set start_after = $1 where data ->> 'name' = 'Ada'"],
  ["graphile-worker", "update graphile_worker._private_jobs set run_at = $1 where payload ->> 'name' = 'Ada'"],
])("%s: a job that is due at no time is refused, and the others move", async (from, update) => {
  const { pool, url: database } = await queues();
  for (const at of ["infinity", "-infinity", "20000-01-01Z"]) {
    await pool.query(update, [at]);
    const { answer } = await imported([from, "--database", database]);
    expect(answer.waiting).toMatchObject([{ kind: "greet", count: 1 }]);
    expect(answer.refused).toContainEqual({ what: "1 of greet", why: expect.stringContaining("infinity") });
  }
});

test("graphile-worker: jobs that wait and the lines of its crontab, with what its options become", async () => {
  const { url: database } = await queues();
  const crontab = `0 4 * * 1 send_mail ?id=weekly&max=3&fill=1d%0Athrow {"to":"ada"}
* * * * * greet {to: "json5"}
half a line
`;
  const args = ["graphile-worker", "--database", database, "--crontab", "export"];
  const { answer, app, specs } = await imported(args, crontab);
  expect(answer.waiting).toMatchObject([{ kind: "greet", count: 2 }]);
  expect(answer.refused.map(({ why }) => why)).toEqual([
    expect.stringContaining("used up"),
    expect.stringContaining("runs there now"),
    expect.stringContaining("JSON5"),
    expect.stringContaining("five fields"),
  ]);
  expect(app.jobs.map(({ id }) => id)).toEqual(["greet", "send_mail"]);
  expect(specs).toMatchObject([{ id: "weekly", job: { kind: "send_mail" }, timezone: "UTC", payload: { to: "ada" } }]);
});

test("--apply writes each waiting job once, however often it is repeated, and one that is refused hinders no other", async () => {
  const api = await serveApi();
  const database = await foreignQueues(api.pool);
  const apply = async (from: string) => {
    const { code, json, err } = await api.belfry("import", from, "--database", database, "--apply", "--json");
    return { code, applied: (json as unknown as { applied: object }).applied, err };
  };
  for (const from of ["pg-boss", "graphile-worker"]) {
    expect(await apply(from)).toMatchObject({ code: 6, applied: { created: 1, existed: 0, failed: 1 } });
    const again = await apply(from);
    expect(again).toMatchObject({ code: 6, applied: { created: 0, existed: 1, failed: 1 } });
    expect(again.err).toMatch(/(pg-boss|graphile-worker):\S+: .*name/);
  }
  const { rows } = await api.pool.query("select kind, key, payload, due_at from belfry.job order by id");
  expect(rows).toEqual(
    [/^pg-boss:[\da-f-]{36}$/, /^graphile-worker:1$/].map((key) => ({
      kind: "greet",
      key: expect.stringMatching(key),
      payload: { name: "Ada" },
      due_at: new Date("2031-01-01T00:00:00Z"),
    })),
  );
  await api.pool.query("insert into pgboss.job (name) values ('sendMail')");
  expect(await apply("pg-boss")).toMatchObject({ code: 3, err: expect.stringContaining("no kind sendmail-754936") });
});

async function queues() {
  const { pool, url, close } = await freshDatabase();
  onTestFinished(close);
  await foreignQueues(pool);
  return { pool, url };
}
