import { runJob, timesOf } from "belfry/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import app, { externalDownloadRetry, outboxRetry } from "../../examples/batch-scheduler/app.ts";
import { downloads, outbox } from "../../examples/batch-scheduler/wiring.ts";

const hour = { after: "2031-05-01T10:00:00Z", until: "2031-05-01T11:00:00Z" };

/** How often each schedule fires in an hour; `off` where the stage does not have it. */
const rates = (stage: string): Readonly<Record<string, number | "off">> =>
  Object.fromEntries(
    app.schedules
      .filter(({ id }) => id !== "shop-arrivals")
      .map((schedule) => {
        const isOn = schedule.spec(stage, app.name).enabled;
        return [schedule.id, isOn ? timesOf(schedule, { ...hour, stage }).length : "off"];
      }),
  );

test.each([
  ["dev", "off", "off"],
  ["small", "off", "off"],
  ["examples", 12, 12],
  ["prod", 60, 12],
  ["smoke", 60, 60],
  ["demo", 120, 80],
])(
  "the rates of stage %s: every five minutes, one in production, and off where no stage is named",
  (stage, messages, files) => {
    expect(rates(stage)).toEqual({ "outbox-retry": messages, "external-download-retry": files });
  },
);

test.each([
  ["prod", 10, 100, 5, 100],
  ["demo", 5, 100, 5, 10],
])("the batches of stage %s: %i of %i messages, %i of %i files", async (stage, ...figures) => {
  const more = { items: [], hasMore: true };
  const reads = [outbox, downloads].map(({ reader }) => vi.spyOn(reader, "findUnpublished").mockResolvedValue(more));
  onTestFinished(() => reads.forEach((read) => read.mockRestore()));
  for (const job of [outboxRetry, externalDownloadRetry])
    expect((await runJob(job, undefined, { stage })).result).toMatchObject({ hasMore: true });
  expect(reads.flatMap(({ mock: { calls } }) => [calls.length, calls[0]?.[1]])).toEqual(figures);
});
