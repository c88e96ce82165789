import { expect, onTestFinished, test } from "vitest";
import { reasons } from "../../src/core/job/reasons.ts";
import type { Store } from "../../src/core/ports/ports.ts";
import { startLocal } from "../../src/local/system.ts";
import { freshFolder } from "./folder.ts";
import { storeOf } from "./greeting-system.ts";
import { until } from "./until.ts";

test("the mates of a handler that blocks are sent again at once, and its attempts say what happened", async () => {
  const system = await startLocal({
    home: freshFolder(),
    apps: [new URL("./blocking-app.ts", import.meta.url)],
    environment: { PATH: process.env["PATH"] },
    postgresSettings: { fsync: "off" },
    timeScale: 4,
    without: ["watch", "fakes", "api"],
  });
  onTestFinished(() => system.stop());
  const store = storeOf(system.urls.database);
  const block = await ended(store, "block", "FAILED", 1);
  const mates = await ended(store, "mate", "SUCCESS", 2);
  const [first, last] = block[0]?.history.filter(({ from }) => from === "RUNNING") ?? [];
  expect(first).toMatchObject({ errorCode: "WORKER_LOST", errorMessage: expect.stringMatching(inBatch) });
  expect(last).toMatchObject({ errorCode: "WORKER_LOST", errorMessage: expect.stringMatching(alone) });
  for (const { history } of mates) {
    const [lost] = history.filter(({ from }) => from === "RUNNING");
    expect(lost).toMatchObject({ to: "QUEUED", errorMessage: expect.stringMatching(inBatch) });
    expect(history.map(({ reason }) => reason)).not.toContain(reasons.messageLost);
  }
}, 400_000);

const alone = /^the handler blocked the event loop for \d+ s( and its process was killed)?$/;
const inBatch = /^it or another job of its batch: the handler blocked the event loop for \d+ s/;

const ended = (store: Store, kind: string, state: "FAILED" | "SUCCESS", count: number) =>
  until(
    `${count} of ${kind}`,
    async () => {
      const jobs = await store.jobs({ states: [state], kind, limit: count });
      const shown = await Promise.all(jobs.map(({ id }) => store.job(id)));
      return shown.length < count ? null : shown.flatMap((each) => (each === null ? [] : [each]));
    },
    120_000,
  );
