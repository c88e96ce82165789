import { expect, test } from "vitest";
import type { LaneListReply, SummaryReply } from "../../src/api/shape/overview.ts";
import { writeWorker } from "../../src/insight/workers.ts";
import { openApi } from "./harness.ts";

test("a worker is what its leases and its last sign say, and is shown for an hour after it", async () => {
  const opened = await openApi();
  await opened.database.insight.run(writeWorker, { id: "v", lane: "default", version: "9.9.9" });
  const { id } = (await opened.call("POST", "/jobs", { kind: "ping" })).body;
  await opened.store.claim([{ jobId: id, generation: 1, trace: "" }], { worker: "w", alone: true });
  const get = async <T>(path: string) => (await opened.call("GET", path)).body as unknown as T;
  const { workers } = await get<LaneListReply>("/lanes");
  expect(workers.find((worker) => worker.id === "v")).toMatchObject({ lane: "default", version: "9.9.9", running: [] });
  expect(workers.find((worker) => worker.id === "w")).toMatchObject({
    running: [{ job: id, kind: "ping", attempt: 1 }],
  });
  const leaseMs = 20_000;
  const statusesAfter = async (ms: number) => {
    await opened.advance(ms);
    const shown = (await get<LaneListReply>("/lanes")).workers.map((worker) => `${worker.id} ${worker.status}`);
    const { busy, lost } = (await get<SummaryReply>("/summary")).workers;
    return { busy, lost, shown: shown.toSorted() };
  };
  expect(await statusesAfter(0)).toEqual({ busy: 1, lost: 0, shown: ["v idle", "w busy"] });
  expect(await statusesAfter(leaseMs)).toEqual({ busy: 1, lost: 0, shown: ["v idle", "w busy"] });
  expect(await statusesAfter(1)).toEqual({ busy: 0, lost: 1, shown: ["v idle", "w lost"] });
  expect(await statusesAfter(60_000 - leaseMs - 1)).toEqual({ busy: 0, lost: 1, shown: ["v idle", "w lost"] });
  expect(await statusesAfter(1)).toEqual({ busy: 0, lost: 1, shown: ["v silent", "w lost"] });
  expect(await statusesAfter(3_540_000)).toEqual({ busy: 0, lost: 1, shown: ["w lost"] });
});
