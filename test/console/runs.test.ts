import { beforeAll, describe, expect, it, test } from "vitest";
import type { RunMapReply } from "../../src/api/shape/run.ts";
import { groupedRun, prefixOf } from "../../src/console/runs/groups.ts";
import { criticalPath, loadedMap, listedTasks } from "../../src/console/runs/run-map.ts";
import { openApi } from "../api/harness.ts";
import { describeInBrowser } from "./in-browser.ts";
import { consoleApp, plantConsole, plantLargeRun } from "./planted-console.ts";

async function openMaps() {
  const opened = await openApi([consoleApp], { ticks: true });
  await plantConsole(opened);
  await plantLargeRun(opened, 10_000);
  const { call } = opened;
  return async (run: number): Promise<RunMapReply> =>
    (await call("GET", `/runs/${run}/map`)).body as unknown as RunMapReply;
}

describe("a run as the page holds it", () => {
  it("lists what needs attention first, and what took longest when asked", async () => {
    const states = ["SUCCESS", "SUCCESS", "FAILED", "SKIPPED", "PENDING", "RUNNING"] as const;
    const { tasks } = loadedMap({ ...(await (await openMaps())(7)), states: [...states] });
    const listed = listedTasks(tasks, { set: "all", text: "", isLarge: true }).map(({ state }) => state);
    expect(listed).toEqual(["FAILED", "RUNNING", "PENDING", "SKIPPED", "SUCCESS", "SUCCESS"]);
    expect(listedTasks(tasks, { set: "failed", text: "mismatch", isLarge: true }).map(({ name }) => name)).toEqual([
      "match",
    ]);
    expect(listedTasks(tasks, { set: "failed", text: "orders", isLarge: true })).toEqual([]);
  });

  it("groups ten thousand alike tasks by layer, with their counts and the edges between them", async () => {
    const { groups, edges } = groupedRun(loadedMap(await (await openMaps())(9)));
    expect(groups.map(({ tasks }) => tasks.length)).toEqual(Array.from({ length: 10 }, () => 1_000));
    expect(groups[0]?.counts).toEqual(
      new Map([
        ["SUCCESS", 999],
        ["FAILED", 1],
      ]),
    );
    expect(edges).toHaveLength(9);
    expect(prefixOf("load-partition-0017")).toBe("load-partition");
    expect(prefixOf("17")).toBe("#");
  });

  it("finds the tasks that decided when the run ended", async () => {
    const map = loadedMap({
      ...(await (
        await openMaps()
      )(7)),
      finished: [60, 80, 160, null, null, null],
      started: [0, 0, 80, null, null, 90],
    });
    expect(criticalPath(map).map(({ name }) => name)).toEqual(["refunds", "match"]);
  });
});

await describeInBrowser("a run of ten thousand tasks", (its) => {
  beforeAll(() => plantLargeRun(its.api, 10_000));

  test("opens on what is not successful, with the causes, in one request for its tasks", async () => {
    const { page, problems } = await its.open();
    const before = its.api.queries.length;
    await page.goto(its.at("/runs/9"));
    await page.getByRole("region", { name: "Failed tasks" }).getByText("3 orders have no refund").waitFor();
    expect(its.api.queries.slice(before).filter((each) => each.startsWith("/runs/9/map"))).toHaveLength(1);
    const rows = page.locator("tbody .row");
    expect(await rows.count()).toBe(10);
    expect(await rows.first().textContent()).toContain("Failed");
    await page.getByRole("button", { name: "Success 9,990" }).click();
    await page.getByText("9,990 tasks").waitFor();
    expect(await rows.count()).toBeLessThan(80);
    await page.getByRole("searchbox", { name: "Search tasks" }).fill("04211");
    await page.getByText("1 task", { exact: true }).waitFor();
    expect(await rows.textContent()).toContain("load-partition-of-table-orders-04211");
    expect(problems).toEqual([]);
  });

  test("as a fan-out of which most was canceled: what its jobs are now adds up to all that were written", async () => {
    const { page } = await its.open();
    await page.route(
      (url) => url.pathname.startsWith("/runs/9"),
      async (route) => {
        const found = (await (await route.fetch()).json()) as { run?: { progress: object }; progress?: object };
        const { run = found } = found;
        const counts = { total: 6_000, ready: 0, running: 5, done: 5_900, ok: 290, failed: 10, skipped: 0 };
        const fanned = { ...run, shape: null, progress: { ...run.progress, ...counts } };
        await route.fulfill({ json: { ...found, ...("run" in found ? { run: fanned } : fanned), edges: [] } });
      },
    );
    await page.goto(its.at("/runs/9?view=funnel"));
    const steps = page.locator(".funnel li");
    await steps.first().waitFor();
    const rows = await steps.evaluateAll((all) =>
      all.map((step) => [
        step.querySelector(".funnel-name")?.textContent ?? "",
        Number(step.querySelector(".number")?.textContent?.replace(",", "")),
      ]),
    );
    const [[, written] = [], ...now] = rows as [string, number][];
    expect(written).toBe(6_000);
    expect(now.reduce((sum, [, jobs]) => sum + jobs, 0)).toBe(6_000);
    expect(rows).toContainEqual(["Canceled", 5_600]);
    expect(rows.map(([name]) => name)).not.toContain("Started");
  });

  test("is drawn as groups with counts; a group leads to its tasks", async () => {
    const { page } = await its.visit("/runs/9?view=graph", "Critical path");
    const group = page.getByRole("button", { name: /1 failed, 999 success/ });
    await group.waitFor();
    expect(await page.locator(".group-node").count()).toBe(10);
    expect(await page.locator("path.edge").count()).toBe(9);
    await group.click();
    await page.getByText("10,000 tasks").waitFor();
    expect(await page.getByRole("searchbox", { name: "Search tasks" }).inputValue()).toBe(
      "load-partition-of-table-orders",
    );
  });

  test("is drawn as a whole, and at its own size by a button or a key", async () => {
    const { page, problems } = await its.visit("/runs/9?view=graph", "Critical path");
    const width = (): Promise<number> => page.locator(".graph-size").evaluate((drawing) => drawing.clientWidth);
    const own = page.getByRole("button", { name: "Its own size" });
    await own.waitFor();
    const whole = await width();
    await own.click();
    await page.getByRole("button", { name: "Fit the graph" }).waitFor();
    expect(await width()).toBeGreaterThan(whole);
    await page.keyboard.press("0");
    await own.waitFor();
    expect({ width: await width(), problems }).toEqual({ width: whole, problems: [] });
  });
});
