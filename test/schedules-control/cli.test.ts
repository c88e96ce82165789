import { expect, test } from "vitest";
import { belfry as run, serveApi } from "../cli/harness.ts";
import { eachTest } from "../support/each-test.ts";

const opened = eachTest(() => serveApi());
const { belfry } = opened;

const create = ["schedules", "create", "nightly", "--kind", "ping", "--cron", "0 3 * * *", "--timezone", "Asia/Seoul"];

test("create, show, update, next, pause, resume, trigger, history and delete", async () => {
  expect(await belfry(...create)).toMatchObject({
    code: 0,
    out: expect.stringContaining("2026-11-21T18:00:00.000Z\t0 3 * * *\tAsia/Seoul\tping\ttests"),
  });
  const next = await belfry("schedules", "next", "nightly", "--count", "1");
  expect(next.out).toContain("2026-11-22 03:00\t2026-11-21T18:00:00.000Z");
  expect((await belfry("schedules", "update", "nightly", "--kind", "ping", "--every", "6h")).code).toBe(0);
  expect((await belfry("schedules", "show", "nightly")).out).toContain("2\t2026-11-21T08:00:00.000Z\tevery 6h UTC");
  expect((await belfry("schedules", "pause", "nightly")).out).toContain("\tpaused\t");
  expect((await belfry("schedules", "next", "nightly")).err).toContain("it is paused");
  const until = ["--until", "6:00", "--timezone", "Asia/Seoul", "--reason", "the provider is away"];
  const again = await belfry("schedules", "pause", "nightly", ...until, "--json");
  expect(again.json).toMatchObject({
    schedules: [
      { paused: true, pausedUntil: "2026-11-21T21:00:00.000Z", pauseReason: "the provider is away", pausedBy: "ada" },
    ],
  });
  expect((await belfry("schedules", "next", "nightly")).err).toContain(": the provider is away; until then");
  expect((await belfry("schedules", "pause", "nightly", "--until", "yesterday")).err).toContain(
    "until: must be like 2h",
  );
  expect((await belfry("schedules", "resume", "nightly")).out).toContain("\ton\t");
  expect((await belfry("schedules", "trigger", "nightly", "--key", "k")).out).toMatch(/^job \d+\n$/);
  expect((await belfry("schedules", "trigger", "nightly", "--key", "k")).err).toContain("has this key already");
  expect((await belfry("schedules", "history", "nightly")).out).toBe("nothing decided yet\n");
  expect((await belfry("schedules", "delete", "nightly")).out).toBe("nightly deleted, 0 waiting jobs left to cancel\n");
});

test("what comes up is shown with its risks, the load beside the capacity, and by lane and app", async () => {
  await belfry(...create);
  await belfry("schedules", "pause", "ping-often", "--until", "20m");
  const { out } = await belfry("schedules", "upcoming", "--timezone", "UTC");
  expect(out).toContain("2026-11-21 08:10:00\tin 10m\tping-often\tping\tdefault\tpaused: will be skipped");
  expect(out).toContain("2026-11-21 08:20:00\tin 20m\tping-often\tping\tdefault\t\n");
  expect(out).toContain(
    "LANE\tTIMES\tEXPECTED WORK\tCAPACITY\tBUSIEST\ndefault\t5\t0s and 5 of unknown length\t20h\t5 % at 2026-11-21 08:20:00\n",
  );
  expect((await belfry("schedules", "upcoming", "--lane", "mail")).out).toBe("nothing is scheduled in this span\n");
  expect(
    (await belfry("schedules", "upcoming", "--hours", "24", "--app", "tests", "--json")).json.schedules,
  ).toBeUndefined();
  expect((await belfry("schedules", "upcoming", "--hours", "25")).code).toBe(2);
});

test("a simulation shows where more is due than a lane runs, and fails a pipeline above its bound", async () => {
  const day = ["schedules", "simulate", "--days", "1", "--unmeasured", "15m"];
  const roomy = await belfry(...day, "--fail-over", "0");
  expect(roomy.out).toContain("LANE\tTIMES\tWORK\tCAPACITY\tPILE-UPS\ndefault\t144\t1d 12h\t20\t0\n");
  expect(roomy).toMatchObject({ code: 0, err: expect.stringContaining("taken to run 15m (--unmeasured): ping") });
  const tight = await belfry(...day, "--against", "default=1", "--fail-over", "47", "--json");
  expect(tight.json).toMatchObject({
    lanes: [{ pileUps: [{ over: 1 }, { from: "2026-11-21T08:30:00.000Z", over: 48 }] }],
  });
  expect(tight).toMatchObject({ code: 1, err: expect.stringContaining("48 jobs would wait at once, more than") });
  expect((await belfry(...day, "--against", "default=1", "--fail-over", "48")).code).toBe(0);
  await belfry(
    "schedules",
    "create",
    "spring",
    "--kind",
    "ping",
    "--cron",
    "30 2 * * *",
    "--timezone",
    "America/New_York",
  );
  expect((await belfry(...day, "--from", "2027-03-14T00:00:00Z")).out).toContain(
    "2027-03-14T07:00:00.000Z: the clock of America/New_York goes from 2027-03-14T02:00 to 2027-03-14T03:00",
  );
  for (const wrong of [
    ["--against", "mail=1"],
    ["--against", "default"],
    ["--against", "default=1,default=2"],
    ["--days", "367"],
    ["--fail-over", "some"],
  ])
    expect((await belfry(...day, ...wrong)).code).toBe(2);
});

test("the schedules of a project are simulated without a running system", async () => {
  const folder = process.cwd();
  const year = ["schedules", "simulate", "--from-code", "--stage", "dev", "--from", "2031-03-01T00:00:00Z"];
  const { code, json } = await run([...year, "--days", "30", "--json"], { folder });
  const lanes = expect.arrayContaining([expect.objectContaining({ lane: "default", isMore: false })]);
  expect(json).toMatchObject({ to: "2031-03-31T00:00:00.000Z", unmeasured: { countAsMs: 1_000 }, lanes });
  expect(code).toBe(0);
  expect((await run([...year, "--days", "400"], { folder })).code).toBe(2);
  expect(await run([...year, "--against", "nolane=3"], { folder })).toMatchObject({
    code: 2,
    err: expect.stringContaining('error: --against names the lane "nolane": there are '),
  });
});

test("more than one is confirmed, and one that fails does not stop the others", async () => {
  expect(await belfry("schedules", "pause", "ping-often", "none")).toMatchObject({ code: 2 });
  const both = await belfry("schedules", "pause", "none", "ping-often", "--yes", "--json");
  expect(both.code).toBe(6);
  expect(both.json).toMatchObject({ schedules: [{ id: "ping-often", paused: true }], errors: [{ id: "none" }] });
});

test("preview shows what clock changes do, and explain says what became of a time", async () => {
  const preview = ["schedules", "preview", "30 2 * * *", "--timezone", "America/New_York", "--count", "1"];
  const shown = await belfry(...preview, "--after", "2027-03-13T12:00:00Z");
  expect(shown.out).toContain("the clock skips 02:30 (it jumps from 02:00 to 03:00): fires at 03:00");
  const both = await belfry("schedules", "preview", "0 0 1 * MON");
  expect(both.err).toContain("note: ");
  expect((await belfry("schedules", "explain", "ping-often", "08:07")).out).toBe(
    "2026-11-21 08:07 is no time of this schedule: it runs every 600 s\n  the times around it are 2026-11-21 08:00:00 and 2026-11-21 08:10:00\n",
  );
});

test("a backfill is looked at first, and more than ten jobs are confirmed", async () => {
  const { store, advance } = opened;
  await advance(3 * 3_600_000);
  const decidedUntil = await store.now();
  const plan = { scheduleId: "ping-often", version: 1, decidedUntil, nextAt: null, occurrences: [] };
  await store.plan([plan]);
  const backfill = ["schedules", "backfill", "ping-often", "--from", "2026-11-21T08:00Z", "--to", "2026-11-21T10:00Z"];
  const dry = await belfry(...backfill, "--dry-run");
  expect(dry.out).toContain("2026-11-21 08:10:00\tmissing\t1");
  expect(dry.out).toContain("would run 12 times, 1000 ms apart; 0 have run, run or wait");
  expect(await store.jobs()).toEqual([]);
  expect(await belfry(...backfill)).toMatchObject({ code: 2, err: expect.stringContaining("this makes 12 jobs") });
  expect((await belfry(...backfill, "--yes", "--pace", "2s")).out).toContain("12 jobs planned, 2000 ms apart");
  expect((await belfry(...backfill, "--yes")).out).toBe(
    "0 jobs planned, 1000 ms apart; 12 times had run, ran or waited\n",
  );
  expect((await belfry("schedules", "backfill", "ping-often", "--from", "yesterday", "--to", "now")).code).toBe(2);
});
