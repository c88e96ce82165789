import { createSession } from "../../src/postgres/session.ts";
import { type TestStore, testStore } from "../support/looks.ts";
import { createTally } from "../../src/postgres/tally.ts";
import { endPause } from "../../src/insight/circuits.ts";
import { readWaiting } from "../../src/insight/waiting.ts";
import type { Connections } from "../../src/postgres/connect.ts";
import { createDatabase } from "../../src/postgres/database.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { registry } from "../../src/define/definition.ts";
import type { JobId, RunId } from "../../src/machine/job.ts";
import type { StreamCursor, StreamEvent } from "../../src/insight/event-stream.ts";
import type { State } from "../../src/machine/state.ts";
import { readDueSoon } from "../../src/insight/due-soon.ts";
import { readNightBars, readNightCells, readNightPauses } from "../../src/insight/night.ts";
import { readFailureGroups } from "../../src/insight/failure-groups.ts";
import { readLanes } from "../../src/insight/lanes.ts";
import { readLive } from "../../src/insight/live.ts";
import { readFences, readPassed } from "../../src/insight/locks.ts";
import { readSlot, readSlots } from "../../src/insight/slots.ts";
import { readWorkers, writeWorker } from "../../src/insight/workers.ts";
import { insertMany, messageFor } from "../contract/store/fixture.ts";
import { aPause } from "../support/pause.ts";
import { countMatching, findIds, findJobs, jobSorts } from "../../src/insight/find-jobs.ts";
import { jobsById, readAttempt } from "../../src/insight/job.ts";
import { readEvents } from "../../src/insight/stream.ts";
import { readAudits, writeAudits } from "../../src/insight/audit.ts";
import { readMarks, stageKey, writeMarks } from "../../src/insight/secrecy.ts";
import { failReader, openReader, passEvents, takeReader } from "../../src/insight/reader.ts";
import { writeKinds } from "../../src/insight/kinds.ts";
import { readRequest } from "../../src/insight/request-key.ts";
import {
  advanceBackfill,
  advanceBulk,
  beginBulk,
  nextBulk,
  readBulks,
  chooseStep,
  readUnretried,
  sendStep,
  stopBulk,
} from "../../src/insight/bulk.ts";
import { archiveLag, readArchive } from "../../src/insight/archived.ts";
import { readFailures, readWorstKinds } from "../../src/insight/failures.ts";
import { forgetBursts } from "../../src/postgres/sql/debounce.ts";
import { takeUnit } from "../../src/postgres/sql/unit.ts";
import { forgetTurns, markTurns, takeTurns } from "../../src/postgres/sql/turn.ts";
import { probeDisk, readAppSchemas, readHealth, readTrouble } from "../../src/insight/health.ts";
import { readCounted, readUsage } from "../../src/insight/costs.ts";
import { readKindHours } from "../../src/insight/kind-figures.ts";
import { readKindTotals } from "../../src/insight/kind-totals.ts";
import { readLastHour, readMinutes } from "../../src/insight/minutes.ts";
import { readFailingSince, readLatestOccurrences, readOccurrenceEnds } from "../../src/insight/occurrence-ends.ts";
import { readOccurrenceCounts } from "../../src/insight/occurrence-counts.ts";
import { mapOf } from "../../src/insight/run-map.ts";
import { matrixOf } from "../../src/insight/run-matrix.ts";
import { readJudgedTimes } from "../../src/insight/objectives.ts";
import { readComing, readPromising, searchSchedules } from "../../src/insight/schedules.ts";
import type { Database } from "../../src/insight/sql-query.ts";

/** Uses what operators look at and steer once or more, so that each of its statements runs. */
export async function operationsTour(connections: Connections): Promise<void> {
  const store = testStore(connections);
  const tally = createTally(createSession(connections.main, connections.where));
  const insight = createDatabase(connections, { checksRows: true });
  await tally.countBatches({ kind: "tour", lane: "tour" }, { processed: 3, succeeded: 2, failed: 1 });
  await tally.rollUp(1_000);
  const { jobs } = await findJobs(insight, { search: {}, sort: "newest", cursor: null, limit: 10 });
  for (const sort of jobSorts) {
    const states: State[] = sort === "due" ? ["PENDING", "QUEUED"] : ["FAILED"];
    await findJobs(insight, { search: { states }, sort, cursor: null, limit: 10 });
  }
  await findJobs(insight, { search: { key: "none" }, sort: "newest", cursor: null, limit: 10 });
  await countMatching(insight, { kind: "tour" }, 100);
  await countMatching(insight, { key: "tour" }, 100);
  const ids = jobs.map((job) => job.id as JobId);
  await jobsById(insight, ids);
  if (ids[0] !== undefined) await insight.run(readAttempt, { id: ids[0], attempt: 1 });
  if (ids[0] !== undefined) await insight.run(readWaiting, { id: ids[0], most: 100 });
  const { cursor } = await readEvents(insight, null, 10);
  await readEvents(insight, cursor, 10);
  await read(insight, cursor);
  await readLive(insight, 1_000);
  await insight.run(readLanes, {});
  await insight.run(readSlots, "");
  await insight.run(readSlot, { key: "cap:tour", before: 0 });
  await insight.run(writeWorker, { id: "w", lane: "tour", version: "1" });
  await insight.run(readWorkers, 60_000);
  await insight.run(readFailureGroups, {});
  await insight.run(readFences, {});
  await insight.run(readDueSoon, { to: 3_600_000, parts: 12, windowMs: 300_000 });
  const night = { from: 0, to: 3_600_000, by: "schedule", kinds: null } as const;
  for (const read of [readNightBars, readNightCells, readNightPauses] as const)
    await insight.run<typeof night, unknown>(read, night);
  await insight.run(readPassed, "tour");
  await insight.run(readHealth, 60_000);
  await insight.run(readArchive, {});
  await insight.run(readTrouble, {});
  await insight.run(archiveLag, {});
  await insight.run(readFailures, {});
  await insight.run(readWorstKinds, {});
  await insight.run(readMinutes, { back: 60, kinds: null, lane: null });
  await insight.run(readLastHour, null);
  await insight.run(readAppSchemas, {});
  await insight.run(readKindTotals, {});
  const period = { from: 0, to: 3_600_000 };
  await insight.run(readKindHours, { now: period, before: period, kind: null, lane: null });
  const facts = { stage: "tour", lanes: [{ name: "default", memoryMb: 512 }], tasks: [], databaseUsd: 1 };
  const asked = { from: "2026-01-01", to: "2027-01-01", by: "key", kinds: null } as const;
  await insight.run(readUsage, { asked, facts, databaseUsd: 1 });
  await insight.run(readCounted, "1");
  await probeDisk(insight);
  await insight.run(writeAudits, [
    { caller: "a", action: "POST /jobs", target: "/jobs", status: 201, detail: "{}", trace: "t" },
  ]);
  await insight.run(readAudits, { limit: 10 });
  await insight.run(writeMarks, [{ kind: "pay", marks: { sensitive: true } }]);
  await insight.run(readMarks, {});
  await insight.run(writeKinds, registry([defineApp({ name: "tour", jobs: [defineJob({ id: "tour", run() {} })] })]));
  await stageKey(insight);
  await readOutcomes(insight, ids);
  await circuits(store, insight);
  await units(store, connections);
  await turns(store, connections);
  await batches(store);
  await bursts(store, connections);
  await steer(store, insight, ids);
}

async function readOutcomes(insight: Database, ids: readonly JobId[]): Promise<void> {
  await insight.run(readComing, { search: {}, limit: 10 });
  await insight.run(searchSchedules, { search: { state: "failing" }, sort: "failing", offset: 0, limit: 10 });
  await insight.run(readLatestOccurrences, { schedules: ["tour"], each: 30 });
  await insight.run(readOccurrenceEnds, ids);
  await insight.run(readFailingSince, { schedules: ["tour"], each: 30 });
  const rows = await insight.run(readPromising, { id: null, limit: 10 });
  await insight.run(readJudgedTimes, { rows, isWhole: true });
  await mapOf(insight, "1" as RunId);
  await matrixOf(insight, "1" as RunId);
  await insight.run(readOccurrenceCounts, { id: "tour", from: 0, to: 3_600_000 });
}

/** Each tour is another reader: one that failed would have to wait. */
async function read(insight: Database, cursor: StreamCursor): Promise<void> {
  await openReader(insight, cursor);
  const place = await openReader(insight, cursor);
  const of = { name: cursor, owner: "ada" };
  const [taken] = await insight.run(takeReader, { ...of, version: place?.version ?? "" });
  const version = taken?.version ?? "";
  await passEvents(insight, { ...of, version, cursor, events: [event] });
  await insight.run(failReader, { ...of, version });
}

const event: StreamEvent = {
  id: "0badcafe.1.1.1",
  job: "1",
  at: "1970-01-01T00:00:00.000Z",
  from: null,
  to: "QUEUED",
  attempt: 0,
  generation: 1,
  worker: null,
  reason: null,
  kind: null,
  key: null,
  lane: null,
  run: null,
};

/** Opens, holds two jobs, lets one through, closes, releases the other. */
async function circuits(store: TestStore, insight: Database): Promise<void> {
  const rules = [{ name: "tour", pattern: "^(X)$", share: 0.5, overMs: 60_000, minimum: 1, pauseMs: 1, alike: false }];
  await store.countForCircuits([{ name: "tour", code: "X", ends: 1 }], { worker: "worker-1" });
  await store.judgeCircuits(rules);
  await store.openCircuits();
  const held = await insertMany(store, [{ kind: "circuit" }, { kind: "circuit" }]);
  const messages = await Promise.all(held.map((id) => messageFor(store, id)));
  await store.holdForCircuits(messages, [{ kind: "circuit", circuit: "tour" }]);
  await insight.run(endPause, held[0] ?? null);
  await store.probeCircuits(rules);
  await store.spaceRetries([{ name: "retry:tour", n: 2, share: 0.2 }]);
  await store.probeCircuits([]);
  await store.releaseForCircuits();
}

/** Units of a rate by key, and of what is none. */
async function units(store: TestStore, { main, where }: Connections): Promise<void> {
  await store.installSlots([{ key: "rate:tour#", size: 2, windowMs: 60_000, onRefusal: "hold", reason: "slot" }]);
  for (const key of ["rate:tour#a", "rate:tour#a", "rate:tour#a", "cap:tour"])
    await store.takeUnit(key, { withinMs: 0 });
  // By itself: the store runs it in the transaction that has locked the key.
  await createSession(main, where).run(takeUnit, ["rate:tour#a", 90_000]);
}

/** Two keys that wait in one lane. */
async function turns(store: TestStore, { main, where }: Connections): Promise<void> {
  await store.installTurns([{ lane: "tour", places: 2, ahead: 3, agingMs: 60_000 }]);
  const keys = ["turn:tour#0#a", "turn:tour#1#b"];
  await insertMany(
    store,
    keys.map((heldOn) => ({ lane: "tour", turn: { heldOn, weight: 1 } })),
  );
  const session = createSession(main, where);
  await session.run(markTurns, [keys]);
  // By itself: the store runs it in the transaction that has locked the lane.
  await session.run(takeTurns, ["tour", 10]);
  await store.takeTurns({ of: { lanes: [], keys }, limit: 10 });
  await store.takeTurns({ of: { lanes: ["tour"], keys: [] }, limit: 10 });
  await store.takeTurns({ of: "all", limit: 10 });
  await session.run(forgetTurns, [10]);
}

/** Two calls of one key, and what is forgotten of it. */
async function bursts(store: TestStore, { main, where }: Connections): Promise<void> {
  const debounce = { key: "tour", forMs: 5_000, maxMs: 60_000, keep: "last" } as const;
  const first = await insertMany(store, [{ kind: "burst", debounce }]);
  await insertMany(store, [{ kind: "burst", debounce }]);
  await store.cancel(first);
  await createSession(main, where).run(forgetBursts, [-1_000, 10]);
}

/** A batch of two that is full, and one of them that takes the other along. */
async function batches(store: TestStore): Promise<void> {
  const batch = { key: "tour", max: 2, waitMs: 5_000 };
  const ids = await insertMany(store, [
    { kind: "batch", batch },
    { kind: "batch", batch },
  ]);
  await store.startFull([{ kind: "batch", ...batch }]);
  const [first] = ids;
  if (first !== undefined) await store.claim([await messageFor(store, first)], { worker: "tour", alone: false });
  const started = ids.slice(0, 1).map((jobId) => ({ jobId, max: 2, waitMs: 5_000 }));
  await store.gather(started);
  // The first is noted already, so only what it takes along is locked.
  await store.gather(started);
}

async function steer(store: TestStore, insight: Database, ids: readonly JobId[]): Promise<void> {
  await store.pauseLane("tour", aPause);
  await store.closed("tour");
  await store.holdClosed(ids.map((jobId) => ({ jobId, generation: 0, trace: "" })));
  await store.unholdPaused("tour", 10);
  await store.unholdOpen(10);
  await store.installBlackouts([{ lane: "tour", windows: [{ from: 1_000, until: 2_000 }] }]);
  await store.runNow(ids);
  const search = { kind: "none" };
  const matched = { count: 0, isMore: false };
  const [kept] = await insight.run(readRequest, "tour");
  const asked = { action: "retry", search, caller: "ada", matched, paceMs: 0, steps: [1] } as const;
  const bulk = await beginBulk(insight, asked, kept === undefined ? { key: "tour", hash: "00" } : undefined);
  const taken = await nextBulk(insight, "tour");
  await insight.run(chooseStep, { id: bulk.id, owner: "tour", jobs: ids, size: 1_000 });
  await insight.run(readUnretried, { jobs: ids, before: 0 });
  await insight.run(sendStep, { id: bulk.id, owner: "tour", changed: 0, takenAlong: 0, refused: 0 });
  await findIds(insight, taken ?? bulk, 10);
  await insight.run(advanceBulk, { id: bulk.id, owner: "tour", next: "1", changed: 0, takenAlong: 0, refused: 0 });
  await insight.run(advanceBackfill, { id: bulk.id, owner: "tour", changed: 0, refused: 0, isLast: false });
  await insight.run(readBulks, { id: bulk.id, limit: 1 });
  await insight.run(stopBulk, bulk.id);
}
