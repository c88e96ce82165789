import { expect, test } from "vitest";
import { createLaneGate } from "../../src/core/work/lane-gate.ts";

test("a lane is looked at when it is asked for, and again a second later at the earliest", async () => {
  const looks: string[] = [];
  let now = 5_000;
  let isPaused = false;
  const gate = createLaneGate({
    lane: "mail",
    clock: { elapsedMs: () => now } as never,
    operations: {
      isPaused: async (lane) => (looks.push(`${lane} at ${now}`), isPaused),
      holdPaused: async (messages) => messages.map(({ jobId }) => jobId),
    },
  });
  const asked: boolean[] = [];
  for (const at of [5_000, 5_999, 6_000, 6_001, 7_000]) {
    now = at;
    asked.push(await gate.isPaused());
    isPaused = true;
  }
  expect(asked).toEqual([false, false, true, true, true]);
  expect(looks).toEqual(["mail at 5000", "mail at 6000", "mail at 7000"]);
});
