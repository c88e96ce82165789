import { readOccurrences } from "../../../src/insight/occurrences.ts";
import { readRuns, readTasks } from "../../../src/insight/runs.ts";
import { readWaiting } from "../../../src/insight/waiting.ts";
import { minute } from "../../contract/store/fixture.ts";
import type { JobId } from "../../../src/machine/job.ts";
import { jobsById, readAttempt } from "../../../src/insight/job.ts";
import { readLanes } from "../../../src/insight/lanes.ts";
import { readEvents } from "../../../src/insight/stream.ts";
import { archiveLag, readArchive } from "../../../src/insight/archived.ts";
import { readDueSoon } from "../../../src/insight/due-soon.ts";
import { readFailureGroups } from "../../../src/insight/failure-groups.ts";
import { readFailures, readWorstKinds } from "../../../src/insight/failures.ts";
import { readAppSchemas, readHealth, readTrouble } from "../../../src/insight/health.ts";
import { readCounted, readUsage } from "../../../src/insight/costs.ts";
import { readKindHours } from "../../../src/insight/kind-figures.ts";
import { readKindTotals } from "../../../src/insight/kind-totals.ts";
import { readLive } from "../../../src/insight/live.ts";
import { readFences } from "../../../src/insight/locks.ts";
import { readLastHour, readMinutes } from "../../../src/insight/minutes.ts";
import { readFailingSince, readLatestOccurrences, readOccurrenceEnds } from "../../../src/insight/occurrence-ends.ts";
import { mapOf } from "../../../src/insight/run-map.ts";
import { readComing, searchSchedules } from "../../../src/insight/schedules.ts";
import { readSlot, readSlots } from "../../../src/insight/slots.ts";
import { readWorkers } from "../../../src/insight/workers.ts";
import type { World } from "./world.ts";

/** Looks at all there is with every read of an operator, by values that the rows have. */
export async function looks(world: World): Promise<void> {
  await world.tally.rollUp(1_000);
  await single(world);
  await overview(world);
  await schedules(world);
}

/** Each value of a column, in order. */
async function values(world: World, column: string, table = "job"): Promise<readonly string[]> {
  const { rows } = await world.pool.query<{ value: string }>(
    `select distinct ${column}::text as value from belfry.${table} where ${column} is not null order by 1 limit 12`,
  );
  return rows.map(({ value }) => value);
}

async function single({ insight, store, pool }: World): Promise<void> {
  const { rows } = await pool.query<{ id: JobId; attempt: number }>(
    "select id::text, attempt from belfry.job order by id limit 40",
  );
  const ids = rows.map(({ id }) => id);
  await jobsById(insight, ids);
  await insight.run(readOccurrenceEnds, ids);
  for (const { id, attempt } of rows) {
    await store.job(id);
    for (let n = 1; n <= attempt; n += 1) await insight.run(readAttempt, { id, attempt: n });
    for (const most of [1, 2, 100]) await insight.run(readWaiting, { id, most });
  }
  for (const { id } of await store.runs({ limit: 10 })) {
    await mapOf(insight, id);
    for (const after of [undefined, ids[0]]) await insight.run(readTasks, { run: id, after, limit: 2 });
    for (const of of [{ parent: id }, { before: id }, { createdFrom: 0, createdTo: 9e12 }])
      await insight.run(readRuns, { ...of, limit: 2 });
  }
}

async function overview(world: World): Promise<void> {
  const { insight, store } = world;
  const now = await store.now();
  const [kinds, lanes] = [await values(world, "kind"), await values(world, "lane")];
  for (const kind of [undefined, ...kinds]) await insight.run(readFailureGroups, { kind });
  for (const of of [{}, { lane: "default" }, { kinds }])
    await insight.run(readDueSoon, { to: now + 3_600_000, parts: 60, windowMs: 5 * minute, ...of });
  // Of jobs sent at one instant a smaller bound takes those that lie first in the table, which other sessions' snapshots change.
  await readLive(insight, 1_000);
  for (const overdueMs of [1, 1_000, minute]) await insight.run(readHealth, overdueMs);
  for (const prefix of ["", "cap:"]) await insight.run(readSlots, prefix);
  for (const key of await values(world, "key", "slot")) await insight.run(readSlot, { key, before: 0 });
  for (const seenMs of [0, now]) await insight.run(readWorkers, seenMs);
  const hour = 60 * minute;
  const periods = { now: { from: now - hour, to: now + hour }, before: { from: now - 2 * hour, to: now - hour } };
  for (const one of [null, ...kinds])
    for (const lane of [null, ...lanes]) {
      await insight.run(readMinutes, { back: 3, kinds: one === null ? null : [one], lane });
      await insight.run(readKindHours, { ...periods, kind: one, lane });
    }
  for (const one of [null, kinds]) await insight.run(readLastHour, one);
  await insight.run(readKindTotals, {});
  const facts = { stage: "walk", lanes: lanes.map((name) => ({ name, memoryMb: 512 })), tasks: [], databaseUsd: 1 };
  for (const by of ["kind", "schedule", "key"] as const) {
    const asked = { from: "2000-01-01", to: "2100-01-01", by, kinds: null };
    await insight.run(readUsage, { asked, facts, databaseUsd: 1 });
  }
  await insight.run(readCounted, "1");
  await insight.run(readFailures, {});
  await insight.run(readWorstKinds, {});
  await insight.run(readTrouble, {});
  await insight.run(readAppSchemas, {});
  await insight.run(archiveLag, {});
  await insight.run(readArchive, {});
  await insight.run(readLanes, {});
  await insight.run(readFences, {});
  for (const lane of lanes) await store.closed(lane);
  for (let cursor = (await readEvents(insight, null, 7)).cursor, page = 0; page < 3; page += 1)
    ({ cursor } = await readEvents(insight, cursor, 7));
}

async function schedules(world: World): Promise<void> {
  const { insight, store } = world;
  const ids = await values(world, "id", "schedule");
  for (const each of [1, 2, 30]) {
    await insight.run(readLatestOccurrences, { schedules: ids, each });
    await insight.run(readFailingSince, { schedules: ids, each });
  }
  for (const limit of [1, 10]) await insight.run(readComing, { search: {}, limit });
  for (const sort of ["failing", "id", "next"] as const)
    for (const offset of [0, 1]) await insight.run(searchSchedules, { search: {}, sort, offset, limit: 2 });
  for (const state of ["failing", "paused"] as const)
    await insight.run(searchSchedules, { search: { state }, sort: "id", offset: 0, limit: 10 });
  for (const id of ids) {
    await insight.run(readOccurrences, { id, limit: 2 });
    await store.scheduleFacts(id);
  }
}
