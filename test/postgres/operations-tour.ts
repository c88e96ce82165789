import type { JobId, RunId } from "../../src/core/job/job.ts";
import type { StreamCursor, StreamEvent } from "../../src/core/ports/event-stream.ts";
import type { Operations } from "../../src/core/ports/operations.ts";
import { jobSorts } from "../../src/core/ports/job-search.ts";
import type { State } from "../../src/core/job/state.ts";
import { aPause } from "../support/pause.ts";

/** Uses what operators look at and steer once or more, so that each of its statements runs. */
export async function operationsTour(operations: Operations): Promise<void> {
  await operations.countBatches({ kind: "tour", lane: "tour" }, { processed: 3, succeeded: 2, failed: 1 });
  await operations.rollUp(1_000);
  const { jobs } = await operations.jobs({ search: {}, sort: "newest", cursor: null, limit: 10 });
  for (const sort of jobSorts) {
    const states: State[] = sort === "due" ? ["PENDING", "QUEUED"] : ["FAILED"];
    await operations.jobs({ search: { states }, sort, cursor: null, limit: 10 });
  }
  await operations.jobs({ search: { key: "none" }, sort: "newest", cursor: null, limit: 10 });
  await operations.count({ kind: "tour" }, 100);
  await operations.count({ key: "tour" }, 100);
  const ids = jobs.map((job) => job.id);
  await operations.jobsById(ids);
  if (ids[0] !== undefined) await operations.attempt(ids[0], 1);
  if (ids[0] !== undefined) await operations.waiting(ids[0], 100);
  const { cursor } = await operations.stream(null, 10);
  await operations.stream(cursor, 10);
  await read(operations, cursor);
  await operations.live(1_000);
  await operations.lanePauses();
  await operations.slots("");
  await operations.slot("cap:tour");
  await operations.registerWorker({ id: "w", lane: "tour", version: "1" });
  await operations.workers(0);
  await operations.failureGroups({ kind: null });
  await operations.fences();
  await operations.health(60_000);
  await operations.archived();
  await operations.trouble();
  await operations.archiveLags();
  await operations.failures();
  await operations.minutes({ since: Date.now() - 3_600_000, kinds: null, lane: null });
  await operations.kindTotals();
  const period = { from: 0, to: 3_600_000 };
  await operations.kindHours({ now: period, before: period, kind: null, lane: null });
  await operations.note([
    { caller: "a", action: "POST /jobs", target: "/jobs", status: 201, detail: "{}", trace: "t" },
  ]);
  await operations.audits({ before: null, limit: 10 });
  await operations.keepMarks([{ kind: "pay", marks: { sensitive: true } }]);
  await operations.keptMarks();
  await operations.stageKey();
  await readOutcomes(operations, ids);
  await steer(operations, ids);
}

async function readOutcomes(operations: Operations, ids: readonly JobId[]): Promise<void> {
  await operations.comingSchedules({}, 10);
  await operations.searchSchedules({ search: { state: "failing" }, sort: "failing", offset: 0, limit: 10 });
  await operations.latestOccurrences(["tour"], 30);
  await operations.occurrenceEnds(ids);
  await operations.failingSince(["tour"], 30);
  await operations.runMap("1" as RunId);
}

/** Each tour is another reader: one that failed would have to wait. */
async function read(operations: Operations, cursor: StreamCursor): Promise<void> {
  await operations.reader(cursor);
  const place = await operations.reader(cursor);
  const version = (await operations.takeReader(cursor, { owner: "ada", version: place?.version ?? "" })) ?? "";
  await operations.markPublished(cursor, { owner: "ada", version, cursor, events: [event] });
  await operations.failReader(cursor, { owner: "ada", version });
}

const event: StreamEvent = {
  id: "0badcafe.1.1.1",
  jobId: "1" as JobId,
  at: 0,
  from: null,
  to: "QUEUED",
  attempt: 0,
  generation: 1,
  worker: null,
  reason: null,
  kind: null,
  key: null,
  lane: null,
  runId: null,
};

async function steer(operations: Operations, ids: readonly JobId[]): Promise<void> {
  await operations.pauseLane("tour", aPause);
  await operations.isPaused("tour");
  await operations.lastPass("tour");
  await operations.probeDisk();
  await operations.holdPaused(ids.map((jobId) => ({ jobId, generation: 0, trace: "" })));
  await operations.unholdPaused("tour", 10);
  await operations.unholdOpen(10);
  await operations.runNow(ids);
  await operations.retryPaced([], { dueAt: 0, paceMs: 1 });
  const search = { kind: "none" };
  const matched = { count: 0, isMore: false };
  const bulk = await operations.createBulk({
    action: "retry",
    search,
    caller: "ada",
    matched,
    paceMs: 0,
    canary: true,
  });
  const taken = await operations.takeBulk("tour");
  await operations.sendCanaries(bulk.id, "tour", { jobs: [], takenAlong: 0 });
  await operations.bulkPage(taken ?? bulk, 10);
  await operations.advanceBulk(bulk.id, "tour", { next: "1", changed: 0, takenAlong: 0, refused: 0 });
  await operations.advanceBackfill(bulk.id, "tour", { changed: 0, refused: 0, isLast: false });
  await operations.bulks({ id: bulk.id, limit: 1 });
  await operations.stopBulk(bulk.id);
}
