import { runJob, timesOf } from "belfry/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import app, { externalDownloadRetry, outboxRetry } from "../../examples/batch-scheduler/app.ts";
import { downloads, outbox } from "../../examples/batch-scheduler/wiring.ts";

test("the rates of stage prod: messages each minute, files every five; and no scheduler runs where no stage is named", () => {
  const until = "2031-05-01T11:00:00Z";
  const schedules = app.schedules.filter(({ id }) => id.endsWith("-retry"));
  expect(
    schedules.map((schedule) => timesOf(schedule, { after: "2031-05-01T10:00:00Z", until, stage: "prod" }).length),
  ).toEqual([60, 12]);
  const isOn = (stage: string) => schedules.map((schedule) => schedule.spec(stage, app.name).enabled);
  expect([isOn("prod"), isOn("dev")]).toEqual([
    [true, true],
    [false, false],
  ]);
});

test("the batches of stage prod: 10 of 100 messages, 5 of 100 files", async () => {
  const more = { items: [], hasMore: true };
  const reads = [outbox, downloads].map(({ reader }) => vi.spyOn(reader, "findUnpublished").mockResolvedValue(more));
  onTestFinished(() => reads.forEach((read) => read.mockRestore()));
  for (const job of [outboxRetry, externalDownloadRetry]) await runJob(job, undefined, { stage: "prod" });
  const calls = reads.map(({ mock }) => mock.calls.map(([, size]) => size));
  expect(calls).toEqual([Array(10).fill(100), Array(5).fill(100)]);
});
