import { expect, test } from "vitest";
import { reasons } from "../../src/machine/reasons.ts";
import type { TestStore } from "../support/looks.ts";
import { beginCompressed } from "./greeting-system.ts";
import { until } from "./until.ts";

test("the mates of a handler that blocks are sent again at once, and its attempts say what happened", async () => {
  const { store } = await beginCompressed(new URL("./blocking-app.ts", import.meta.url), 4);
  const block = await ended(store, "block", "FAILED", 1);
  const mates = await ended(store, "mate", "SUCCESS", 2);
  const [first, last] = block[0]?.filter(({ from }) => from === "RUNNING") ?? [];
  expect(first).toMatchObject({ errorCode: "WORKER_LOST", errorMessage: expect.stringMatching(inBatch) });
  expect(last).toMatchObject({ errorCode: "WORKER_LOST", errorMessage: expect.stringMatching(alone) });
  for (const history of mates) {
    const [lost] = history.filter(({ from }) => from === "RUNNING");
    expect(lost).toMatchObject({ to: "QUEUED", errorMessage: expect.stringMatching(inBatch) });
    expect(history.map(({ reason }) => reason)).not.toContain(reasons.messageLost);
  }
}, 400_000);

const alone = /^the handler blocked the event loop for \d+ s( and its process was killed)?$/;
const inBatch = /^it or another job of its batch: the handler blocked the event loop for \d+ s/;

const ended = (store: TestStore, kind: string, state: "FAILED" | "SUCCESS", count: number) =>
  until(
    `${count} of ${kind}`,
    async () => {
      const jobs = await store.jobs({ states: [state], kind });
      return jobs.length < count ? null : await Promise.all(jobs.map(({ id }) => store.history(id)));
    },
    120_000,
  );
