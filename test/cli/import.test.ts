import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import type { AppDefinition } from "../../src/define/definition.ts";
import { belfry, emptyFolder } from "./harness.ts";

const core = new URL("../../src/compose/index.ts", import.meta.url).href;

/** What an import makes of a text: its answer, and the specs of the module that it wrote. */
async function imported(from: string, text: string, ...more: readonly string[]) {
  const folder = emptyFolder();
  writeFileSync(join(folder, "export"), text);
  const { code, json, err } = await belfry(["import", from, "export", "--out", "made.ts", ...more, "--json"], {
    folder,
  });
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
  return {
    answer: json as unknown as { schedules: { id: string; next: string[] }[]; refused: { why: string }[] },
    specs,
  };
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
  const { answer, specs } = await imported("crontab", crontab, "--system");
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
  const { answer, specs } = await imported("eventbridge", JSON.stringify({ Schedules: schedules }));
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
