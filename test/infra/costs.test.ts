import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { waysOf } from "../../scripts/costs/passes.ts";
import { costs } from "../../scripts/costs/document.ts";
import { assumptions, prices } from "../../src/insight/prices.ts";
import { measuredIn, scalePage } from "../../scripts/costs/scale.ts";
import { idleUses } from "../../scripts/costs/resources.ts";
import { checkedDaysMax, scaleTarget, stale, target } from "../../scripts/costs.ts";
import { catalog } from "../../src/aws/telemetry/catalog.ts";
import { metricDimensions } from "../../src/aws/telemetry/metrics.ts";

test("docs/costs.md is what the templates and prices say; write it again with `node scripts/costs.ts`", async () => {
  for (const line of stale(prices, Date.now())) console.warn(`old price: ${line}`);
  expect(readFileSync(target, "utf8")).toBe(await costs());
});

test("the computed parts of docs/scale.md are what the code says; write them again with `node scripts/costs.ts`", async () => {
  const page = readFileSync(scaleTarget, "utf8");
  expect(page.match(/<!-- computed: /g)).toHaveLength(3);
  expect(page).toBe(await scalePage(page));
});

test("the bill has no fewer bytes of log than docs/scale.md measured", () => {
  const measured = measuredIn(readFileSync(scaleTarget, "utf8"));
  const billed = (jobs: number): number => assumptions.logBytesAJob + assumptions.logBytesAnInvocation / jobs;
  expect(measured.get("job, one at a time")?.logBytes).toBeLessThan(billed(1));
  expect(measured.get("job, ten a batch")?.logBytes).toBeLessThan(billed(10));
});

test.each([
  ["small", 40],
  ["prod", 200],
])(
  "%s makes its passes in the cheaper way of its capacity, with AWS Config and without, and is at most %d USD idle",
  async (stage, usdMax) => {
    const ways = await waysOf(stage);
    const own = ways.find(({ isOwn }) => isOwn);
    if (own === undefined) throw new Error(`no way is that of ${stage}`);
    expect(own.usd).toBeLessThanOrEqual(usdMax);
    for (const other of ways.filter((way) => way.isSpot === own.isSpot)) {
      expect(own.usd).toBeLessThanOrEqual(other.usd);
      expect(own.usd + own.configUsd).toBeLessThanOrEqual(other.usd + other.configUsd);
    }
  },
);

test("a resource of a type that no price row is about is refused by its type's name", () => {
  const template = { Resources: { Queue: { Type: "AWS::SQS::Queue" }, New: { Type: "AWS::EC2::TransitGateway" } } };
  expect(() => idleUses(template)).toThrow(/no price row for AWS::EC2::TransitGateway: add one/);
});

test("an instance class without a price is refused, so is an interface endpoint", () => {
  const database = { Type: "AWS::RDS::DBInstance", Properties: { DBInstanceClass: "db.x9.huge" } };
  expect(() => idleUses({ Resources: { Database: database } })).toThrow(/"RDS db.x9.huge" has no price/);
  const endpoint = { Type: "AWS::EC2::VPCEndpoint", Properties: { VpcEndpointType: "Interface" } };
  expect(() => idleUses({ Resources: { Endpoint: endpoint } })).toThrow(/interface endpoint has no price/);
});

test("a price that was last checked more than 180 days ago is reported, a younger one is not", () => {
  const one = { table: { usd: 1, per: "hour", checkedOn: "2026-01-01", source: "page" } };
  const after = (days: number): number => Date.parse("2026-01-01") + days * 86_400_000;
  expect(stale(one, after(checkedDaysMax))).toEqual([]);
  expect(stale(one, after(checkedDaysMax + 1))).toEqual(["table: last gone over on 2026-01-01, compare it with page"]);
});

test("every metric that the code writes is in the catalog, so that its price is counted", () => {
  const folder = new URL("../../src/", import.meta.url);
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  const names = files.flatMap((file) =>
    [...readFileSync(new URL(file, folder), "utf8").matchAll(/metrics\.add\(\s*"([^"]+)"/g)].map(([, name]) => name),
  );
  expect(names.length).toBeGreaterThan(20);
  expect(names.filter((name) => !Object.hasOwn(catalog, name ?? ""))).toEqual([]);
});

test("a metric is split by the lane of its job, never by the job; an app's own is left as it is", () => {
  const laneOf = (job: string): string => `lane of ${job}`;
  expect(metricDimensions("job.lateness", { job: "a" }, laneOf)).toEqual({ lane: "lane of a" });
  expect(metricDimensions("scheduler.execution.time", {}, laneOf)).toEqual({});
  expect(metricDimensions("sweep.late", { job: "a" }, laneOf)).toEqual({});
  expect(metricDimensions("orders.open", { job: "a", shop: "1" }, laneOf)).toEqual({ job: "a", shop: "1" });
});
