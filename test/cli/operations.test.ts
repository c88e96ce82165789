import { expect, test } from "vitest";
import { belfry, serveApi } from "./harness.ts";
import { plantJobs } from "../support/plant-jobs.ts";

type Served = Awaited<ReturnType<typeof serveApi>>;

/** FAILED jobs, and a run that FAILED. */
async function plant({ pool }: Served, jobs: number): Promise<void> {
  await plantJobs(pool, "FAILED", jobs, { error_message: String.raw`e'no\033[31m'` });
  await pool.query(
    `insert into belfry.run (kind, key, version, state, sealed, created_at, finished_at, trace)
     values ('steps', 'k', 1, 'FAILED', true, belfry.now(), belfry.now(), 't')`,
  );
}

test("a FAILED run is shown with the task that failed first, and what repeats it", async () => {
  const served = await serveApi();
  await plant(served, 2);
  const { rows } = await served.pool.query<{ id: string; run: string }>(
    `update belfry.job set run_id = (select id from belfry.run), key = 'k' || id, finished_at = finished_at - id * interval '1 s'
     returning id, run_id as run`,
  );
  const { id = "", run = "" } = rows.toSorted((a, b) => Number(b.id) - Number(a.id))[0] ?? {};
  const { out } = await served.belfry("runs", "show", run);
  expect(out).toMatch(new RegExp(`failed first, at .*: k${id} with BROKEN, job ${id}\n.*belfry runs retry ${run}\n`));
  expect(JSON.parse((await served.belfry("runs", "show", run, "--json")).out)).toMatchObject({
    failedFirst: { job: id },
  });
});

test("what has left for the archive is shown by part, with what keeps the rest", async () => {
  const served = await serveApi();
  expect((await served.belfry("archive")).out).toBe("nothing has left for an archive\n");
  await served.pool.query(
    `insert into belfry.archive (part, objects, rows, bytes, failing_since, failure)
     values ('jobs', 2, 30, 400, belfry.now(), 'no bucket')`,
  );
  expect((await served.belfry("archive")).out).toMatch(/^jobs\t\t30\t2\t400\tsince \S+: no bucket$/m);
});

test("who may only look gets 4", async () => {
  const served = await serveApi({ caller: { name: "bob", role: "read" } });
  const refused = await served.belfry("lanes", "pause", "default");
  expect(refused).toMatchObject({ code: 4, out: "" });
  expect(refused.err).toContain("bob may read but not change");
});

test.each([
  { of: ["--stage", "prod"], env: {} },
  { of: [], env: { BELFRY_STAGE: "prod" } },
])("a lane of a deployed stage stops only with --yes: $of $env", async ({ of, env }) => {
  expect(await belfry(["lanes", "pause", "mail", ...of], { env })).toMatchObject({
    code: 2,
    err: expect.stringContaining("start no job of lane mail of stage prod? Say so with --yes") as string,
  });
});

test("the log of one job begins with what happened to it before, in the same form, and says when nothing did", async () => {
  const { belfry, call } = await serveApi();
  const { id } = (await call("POST", "/jobs", { kind: "ping", delay: "1h" })).body;
  await belfry("jobs", "cancel", id);
  const { out } = await belfry("logs", "--job", id);
  expect(out).toMatch(
    /^2026-11-21T08:00:00.000Z {2}job \d+ {2}ping {2}\(new\) -> PENDING {2}attempt 0\n.*PENDING -> CANCELED .*\n$/,
  );
  const [first] = (await belfry("logs", "--job", id, "--state", "canceled", "--json")).out.split("\n");
  expect(JSON.parse(first ?? "")).toMatchObject({
    job: id,
    kind: "ping",
    lane: "default",
    to: "CANCELED",
    generation: 0,
  });
  expect((await belfry("logs", "--job", "999999")).code).toBe(3);
  expect((await belfry("logs")).err).toContain("-f goes on");
});
