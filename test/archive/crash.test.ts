import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../support/database.ts";
import { bareEnvironment } from "../support/bare-environment.ts";

const script = fileURLToPath(new URL("archiving-process.ts", import.meta.url));
const jobs = 2_500;

async function archive(env: Readonly<Record<string, string>>): Promise<NodeJS.Signals | number | null> {
  const child = spawn(process.execPath, [script], {
    env: { ...bareEnvironment, ...env },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  return signal ?? code;
}

test("a process killed between write and delete loses nothing: the next one writes the same object again", async () => {
  const db = await freshDatabase({ own: true });
  const folder = mkdtempSync(join(tmpdir(), "belfry-archive-"));
  onTestFinished(async () => {
    rmSync(folder, { recursive: true, force: true });
    await db.close();
  });
  await db.pool.query(`begin;
    insert into belfry.event (id, at, to_state, job_ids, attempts, generations)
      select belfry.next_event(), belfry.now(), 'SUCCESS', array_agg(n), array_agg(0), array_agg(0) from generate_series(1, ${jobs}) n;
    insert into belfry.job (kind, payload, lane, state, event_id, due_at, max_attempts, lease_ms, retention_ms,
        trace, finished_at, created_at, result)
      select 'mail', '{}', 'default', 'SUCCESS', 1, at, 1, 1000, 86400000, 't', at, at, to_jsonb(n)
      from generate_series(1, ${jobs}) n,
        lateral (select date_trunc('day', belfry.now() - interval '3 days') + n * interval '1 second') t (at);
    commit`);
  const left = async () => Number((await db.pool.query("select count(*) as n from belfry.job")).rows[0]?.n);
  const objects = () => globSync("**/*.ndjson.gz", { cwd: folder }).toSorted();
  const env = { DATABASE_URL: db.url, BELFRY_ARCHIVE: pathToFileURL(folder).href };

  expect(await archive({ ...env, BELFRY_CRASH_POINT: "archive.written:2" })).toBe("SIGKILL");
  expect([await left(), objects().length]).toEqual([jobs - 1_000, 2]);
  const written = objects();
  expect(await archive(env)).toBe(0);
  expect(await left()).toBe(0);
  expect(objects().slice(0, 2)).toEqual(written);

  const rows = objects().flatMap((name) =>
    gunzipSync(readFileSync(join(folder, name)))
      .toString()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { id: string; result: number }),
  );
  expect(objects()).toHaveLength(3);
  expect(new Set(rows.map(({ id }) => id)).size).toBe(jobs);
  expect(rows.map(({ result }) => result).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: jobs }, (_, n) => n + 1),
  );
});
