import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import type { AppDefinition } from "../../src/define/definition.ts";
import { freshDatabase } from "../support/database.ts";
import { foreignQueues } from "./foreign-queues.ts";
import { belfry, emptyFolder, serveApi } from "./harness.ts";

const core = new URL("../../src/compose/index.ts", import.meta.url).href;

interface Answer {
  readonly schedules: readonly { readonly id: string; readonly next: readonly string[] }[];
  readonly refused: readonly { readonly what: string; readonly why: string }[];
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
    { kind: "sendmail", count: 1 },
  ]);
  expect(answer.refused).toEqual([
    { what: "1 of greet", why: expect.stringContaining("runs there now") },
    { what: "1 of greet", why: expect.stringContaining("write a graph") },
    { what: "greet rule", why: expect.stringContaining("recurrence rule") },
  ]);
  expect(app.jobs.map(({ id, retry }) => [id, retry.maxAttempts])).toEqual([
    ["greet", 4],
    ["sendmail", 4],
  ]);
  expect(specs).toMatchObject([
    { id: "greet", job: { kind: "greet" }, timezone: "Asia/Seoul", payload: { name: "Ada" } },
  ]);
  await pool.query("drop schema pgboss cascade");
  const gone = await belfry(["import", "pg-boss", "--database", database]);
  expect(gone).toMatchObject({ code: 1, err: expect.stringContaining("pgboss.queue") });
});

test("graphile-worker: jobs that wait and the lines of its crontab, with what its options become", async () => {
  const { url: database } = await queues();
  const crontab = `0 4 * * 1 send_mail ?id=weekly&max=3&fill=1d {"to":"ada"}
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
  expect(await apply("pg-boss")).toMatchObject({ code: 3, err: expect.stringContaining("no kind sendmail") });
});

async function queues() {
  const { pool, url, close } = await freshDatabase();
  onTestFinished(close);
  await foreignQueues(pool);
  return { pool, url };
}
