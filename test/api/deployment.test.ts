import { expect, test } from "vitest";
import type { AuditListReply } from "../../src/api/shape/overview.ts";
import { installRelease } from "../../src/compose/install-release.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { defineSchedule } from "../../src/define/define-schedule.ts";
import { registry } from "../../src/define/definition.ts";
import { openApi } from "./harness.ts";

test("what a deployment changed stands among the changes, before a time and by its name", async () => {
  const opened = await openApi([]);
  const pong = (maxAttempts: number) => defineJob({ id: "pong", retry: { maxAttempts }, run() {} });
  const often = defineSchedule({ id: "often", cron: "0 3 * * *", timezone: "UTC", run: pong(2) });
  const release = async (shop: Omit<Parameters<typeof defineApp>[0], "name">) => {
    const known = registry([defineApp({ name: "shop", ...shop })]);
    await installRelease({ ...opened, registry: known }, { stage: "test" });
  };
  await release({ jobs: [pong(2)] });
  const { at } = (await listed(opened, ""))[0] ?? {};
  await opened.advance(60_000);
  await release({ schedules: [often] });
  await release({ jobs: [pong(3)] });
  const changes = async (query: string) =>
    (await listed(opened, query)).map(({ detail }) => (detail as { changes: unknown }).changes);
  expect(await changes("?caller=deployment")).toEqual([
    ['kind "pong" changes', 'schedule "often" is not in code any more and is removed; its history stays'],
    ['schedule "often" is new'],
    ['kind "pong" is new'],
  ]);
  expect(await changes(`?createdTo=${new Date(Date.parse(String(at)) + 1).toISOString()}`)).toEqual([
    ['kind "pong" is new'],
  ]);
  expect(await changes("?caller=ada")).toEqual([]);
});

async function listed(opened: Awaited<ReturnType<typeof openApi>>, query: string) {
  const { body } = await opened.call("GET", `/audits${query}`);
  return (body as unknown as AuditListReply).audits;
}
