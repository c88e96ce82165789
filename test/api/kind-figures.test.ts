import { expect, test } from "vitest";
import { hourBuckets, type KindFigureListReply } from "../../src/insight/kind-figures.ts";
import { durationTrend, shareTrend } from "../../src/console/kinds/figures.ts";
import { openApi } from "./harness.ts";

const hour = 3_600_000;

const bucketOf = (ms: number): number => hourBuckets.filter((bound) => bound <= ms / 1_000).length;

test("a trend is worse, better or the same; without an earlier figure there is none", () => {
  expect(durationTrend(900, 300)).toEqual({ text: "+200 %", tone: "worse" });
  expect(durationTrend(300, 900)).toEqual({ text: "-67 %", tone: "better" });
  expect(durationTrend(300, 290)).toEqual({ text: "same", tone: "same" });
  expect(durationTrend(300, undefined)).toBeNull();
  const of = (ended: number, failed: number) => ({ ended, failed, waitingMs: null, runningMs: null });
  expect(shareTrend(of(100, 5), of(100, 1))).toEqual({ text: "+4 points", tone: "worse" });
  expect(shareTrend(of(100, 5), of(0, 0))).toBeNull();
});

/** Hours of one kind: how many attempts took about this long. */
type Planted = readonly (readonly [hoursAgo: number, kind: string, ms: number, ran: number, failed: number])[];

async function planted(rows: Planted) {
  const opened = await openApi();
  for (const [hoursAgo, kind, ms, ran, failed] of rows) {
    await opened.pool.query(
      `insert into belfry.hour (at, kind, lane, bucket, waited, ran, failed)
       values (date_trunc('hour', belfry.now() - $1 * interval '1 hour'), $2, 'default', $3, $4, $4, $5)`,
      [hoursAgo, kind, bucketOf(ms), ran, failed],
    );
  }
  return async (query: string): Promise<KindFigureListReply> => {
    const { status, body } = await opened.call("GET", `/kind-figures${query}`);
    expect({ status, body }).toMatchObject({ status: 200 });
    return body as unknown as KindFigureListReply;
  };
}

test("the slowest kind of this week stands beside itself of the week before", async () => {
  const figures = await planted([
    [2, "import", 40_000, 10, 0],
    [50, "import", 40_000, 10, 4],
    [2, "mail", 100, 200, 2],
    [170, "import", 5_000, 10, 0],
    [400, "import", 900_000, 10, 10],
  ]);
  const { kinds, period, before } = await figures("");
  expect(Date.parse(period.to) - Date.parse(period.from)).toBe(168 * hour);
  expect(before.to).toBe(period.from);
  const [slow, mail] = kinds;
  expect(slow).toMatchObject({ kind: "import", now: { ended: 20, failed: 4 }, before: { ended: 10, failed: 0 } });
  expect(slow?.now.runningMs?.p95).toBeGreaterThan(32_000);
  expect(slow?.now.runningMs?.p95).toBeLessThan(46_400);
  expect(slow?.before.runningMs?.p95).toBeLessThan(5_800);
  expect(mail).toMatchObject({ kind: "mail", before: { ended: 0, runningMs: null } });
  const [lane] = (await figures("?by=lane")).kinds;
  expect(lane).toMatchObject({ kind: null, lane: "default", now: { ended: 220, failed: 6 } });
  expect((await figures("?hours=24&against=168&kind=import")).kinds).toMatchObject([
    { now: { ended: 10 }, before: { ended: 10 } },
  ]);
});

test("a wrong question is answered with field and rule", async () => {
  const opened = await openApi();
  const { status, body } = await opened.call("GET", "/kind-figures?hours=2161");
  expect({ status, body }).toMatchObject({ status: 400, body: { errors: [{ path: "?hours" }] } });
});
