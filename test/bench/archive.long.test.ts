/** What `docs/costs.md` says of an archived job, written again: a day's work leaves for an archive that counts. */
import { expect, onTestFinished, test } from "vitest";
import { createMeter } from "../../bench/cost/meter.ts";
import { openWorld } from "../../bench/cost/world.ts";
import { app, works } from "../../bench/cost/works.ts";
import { openGround } from "../../bench/ground.ts";
import { archived } from "../../scripts/costs/archive.ts";
import { writeBatch } from "../../src/aws/archive/write-batch.ts";
import { archiveParts } from "../../src/insight/archive.ts";
import { createArchiveSource } from "../../src/postgres/archive-source.ts";
import { openConnections } from "../../src/postgres/index.ts";
import { installTestClock } from "../../src/postgres/test-clock.ts";

const jobs = 1_000;
const longestKeptMs = 100 * 86_400_000;
/** Jobs one at a time have three events each, and so the most bytes. */
const [work] = works;

test("an archived job has the bytes and objects that docs/costs.md says", async () => {
  const ground = await openGround();
  onTestFinished(() => ground.close());
  const database = await ground.database();
  const clock = await installTestClock(database.pool, { thisIsATestDatabase: true });
  const world = openWorld(app, database, createMeter(database));
  await work?.run(world, jobs);
  await world.close();
  await clock.advance(longestKeptMs);
  const connections = openConnections({ url: database.url, applicationName: "archive", connections: 1 });
  onTestFinished(() => connections.close());
  const source = createArchiveSource(connections);
  const total = { objects: 0, bytes: 0, jobs: 0 };
  const names = { stage: "bench", shown: ({ line }: { readonly line: string }) => line };
  for (const part of archiveParts) {
    for (let batch = await source.next(part); batch !== null; batch = await source.next(part)) {
      const written = await writeBatch({ write: async () => {} }, batch, names);
      expect(await source.leave(batch, written)).toBe(true);
      total.objects += written.objects;
      total.bytes += written.bytes;
      total.jobs += batch.rows.filter(({ table }) => table === "job").length;
    }
  }
  expect(total.jobs).toBe(jobs);
  expect(total.bytes / jobs / archived.bytesAJob).toBeCloseTo(1, 1);
  expect((total.objects * 1_000_000) / jobs).toBeLessThanOrEqual(archived.objects);
}, 300_000);
