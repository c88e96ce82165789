import { expect, test } from "vitest";
import { type NightReply, readNightBars, readNightCells } from "../../src/insight/night.ts";
import { settlementOf } from "../contract/store/fixture.ts";
import { openApi, startOfTime } from "./harness.ts";
import { plantJobs } from "../support/plant-jobs.ts";
import { eachTest } from "../support/each-test.ts";

const opened = eachTest(() => openApi());

const hour = 3_600_000;
const isoAt = (ms: number): string => new Date(ms).toISOString();
const evening = startOfTime - 12 * hour;

async function nightOf(query = ""): Promise<NightReply> {
  const { status, body } = await opened.call("GET", `/night?from=${isoAt(evening)}${query}`);
  expect({ status, body }).toMatchObject({ status: 200 });
  return body as unknown as NightReply;
}

/** Finished single jobs, `each` milliseconds apart, in as many schedules as wanted; no statement writes so many at once. */
async function plant(of: { jobs: number; schedules: number; each: number; failedEvery: number }) {
  const client = await opened.pool.connect();
  await client.query("set session_replication_role = replica");
  const at = `belfry.at(${evening}) + n * ${of.each} * interval '1 millisecond'`;
  const isFailed = `n % ${of.failedEvery} = 0`;
  await plantJobs(client, "SUCCESS", of.jobs, {
    state: `case when ${isFailed} then 'FAILED' else 'SUCCESS' end::belfry.job_state`,
    error_code: `case when ${isFailed} then 'BROKEN' end`,
    schedule_id: `'s-' || n % ${of.schedules}`,
    attempt: 1,
    retention_ms: "1000 + n % 3",
    due_at: at,
    started_at: `${at} + interval '1 second'`,
    finished_at: `${at} + interval '3 seconds'`,
  });
  await client.query("reset session_replication_role");
  client.release();
  await opened.pool.query("analyze belfry.job");
}

test("a job in its retry wait keeps its attempts, from the time it was first due on", async () => {
  const { id } = (await opened.call("POST", "/jobs", { kind: "ping" })).body;
  await opened.store.claim([{ jobId: id, generation: 1, trace: "" }], { worker: "w", alone: true });
  await opened.advance(4_000);
  const failure = { to: "RETRY_WAIT", failures: 1, errorCode: "BROKEN", errorMessage: "no", delayMs: hour } as const;
  await opened.store.settle([settlementOf({ jobId: id, attempt: 1 }, failure)], { worker: "w" });
  await opened.advance(1_000);
  const { rows } = await nightOf("&by=kind");
  const [tried] = rows[0]?.bars ?? [];
  expect({ rows: rows.map((each) => each.id), ...tried }).toMatchObject({
    rows: ["ping"],
    job: id,
    result: "open",
    endedAt: null,
  });
  expect(tried?.tries).toEqual([{ from: isoAt(startOfTime), to: isoAt(startOfTime + 4_000) }]);
  expect((await nightOf()).rows).toEqual([]);
});

test("rows that failed come first; each bar has when it was due, started and ended", async () => {
  await plant({ jobs: 6, schedules: 2, each: hour, failedEvery: 2 });
  const { rows, isMore } = await nightOf();
  expect({ ids: rows.map(({ id }) => id), isMore }).toEqual({ ids: ["s-0", "s-1"], isMore: false });
  expect(rows[0]?.bars[0]).toMatchObject({
    dueAt: isoAt(evening + 2 * hour),
    startedAt: isoAt(evening + 2 * hour + 1_000),
    endedAt: isoAt(evening + 2 * hour + 3_000),
    result: "failed",
    reason: "BROKEN",
  });
  const half = await nightOf(`&to=${isoAt(evening + 2.5 * hour)}&by=lane`);
  expect(half.rows).toMatchObject([{ id: "default", bars: [{ result: "succeeded" }, { result: "failed" }] }]);
});

test("fifty thousand runs are counted by part of the range, and none is lost", async () => {
  await plant({ jobs: 50_000, schedules: 150, each: 800, failedEvery: 100 });
  const { rows, isMore } = await nightOf();
  expect({ rows: rows.length, isMore }).toEqual({ rows: 100, isMore: true });
  expect(rows.flatMap(({ bars }) => bars)).toEqual([]);
  expect(rows.reduce((sum, { cells }) => sum + cells.length, 0)).toBeLessThanOrEqual(2_000);
  const all = (await nightOf("&by=kind")).rows.flatMap(({ cells }) => cells);
  const sum = (of: "succeeded" | "failed"): number => all.reduce((total, each) => total + each[of], 0);
  expect({ succeeded: sum("succeeded"), failed: sum("failed"), p50: all[3]?.p50Ms }).toEqual({
    succeeded: 49_500,
    failed: 500,
    p50: 2_000,
  });
  // Of each of three retentions the last hundred that ended, where no more may be read.
  const bounded = async (kinds: readonly string[] | null) => {
    const bounds = readNightCells.params({ from: evening, to: startOfTime, by: "kind", kinds }).with(4, 100);
    const answer = await opened.pool.query<{ of: { succeeded: number; failed: number } | null; isCut: boolean }>(
      readNightCells.text,
      bounds,
    );
    return answer.rows.map(({ of, isCut }) => [of && of.succeeded + of.failed, isCut]);
  };
  expect(await bounded(null)).toEqual([[300, true]]);
  // A caller of other kinds alone meets no jobs among them, and that there may be more.
  expect(await bounded(["other"])).toEqual([[null, true]]);
  const few = { from: evening, to: evening + 60_000, by: "kind", kinds: null } as const;
  const { rows: plan } = await opened.pool.query<{ "QUERY PLAN": string }>(
    `explain (analyze, buffers, costs off, timing off) ${readNightBars.text}`,
    readNightBars.params(few),
  );
  const lines = plan.map((line) => line["QUERY PLAN"]);
  expect(lines.filter((line) => /Seq Scan on (job|run|history|occurrence)\b/.test(line))).toEqual([]);
  const blocks = Number(/shared hit=(\d+)/.exec(lines.find((line) => line.includes("Buffers")) ?? "")?.[1]);
  expect(blocks).toBeLessThan(300);
});

test("a range that is no range is refused by its field", async () => {
  for (const to of [isoAt(evening), isoAt(evening + 169 * hour)]) {
    const { status, body } = await opened.call("GET", `/night?from=${isoAt(evening)}&to=${to}`);
    expect({ status, body }).toMatchObject({ status: 422, body: { code: "invalid-time", errors: [{ path: "?to" }] } });
  }
});
