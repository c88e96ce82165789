import { expect, test } from "vitest";
import { installRelease } from "../../src/compose/install-release.ts";
import { insertMany, messageFor } from "../contract/store/fixture.ts";
import { openApi } from "./harness.ts";

const rule = { name: "ping", pattern: "^.+$", alike: true, share: 1, overMs: 60_000, minimum: 2, pauseMs: 3_600_000 };

/** A kind whose attempts all fail alike, with a job on hold. */
async function parked() {
  const opened = await openApi();
  const { store } = opened;
  await store.countForCircuits([{ name: "ping", code: "TypeError", ends: 2 }], { worker: "w" });
  await store.judgeCircuits([rule]);
  const [id] = await insertMany(store, [{ kind: "ping" }]);
  await store.holdForCircuits([await messageFor(store, id)], [{ kind: "ping", circuit: "ping" }]);
  expect(await store.probeCircuits([rule])).toEqual([]);
  return { ...opened, id };
}

test("to run a job that its circuit holds ends the circuit's pause, as its explanation says", async () => {
  const { call, store, id } = await parked();
  const explained = (await call("GET", `/jobs/${id}/explain`)).body;
  expect(explained).toMatchObject({
    cause: "circuit-open",
    advice: expect.stringContaining(`jobs run-now ${id}`) as string,
  });
  expect((await call("POST", `/jobs/${id}/run-now`)).status).toBe(200);
  expect(await store.probeCircuits([rule])).toEqual([{ name: "ping", move: "probe" }]);
});

test("a release ends the pause of every circuit", async () => {
  const { options, store } = await parked();
  await installRelease(options, { stage: "dev" });
  expect(await store.probeCircuits([rule])).toEqual([{ name: "ping", move: "probe" }]);
});
