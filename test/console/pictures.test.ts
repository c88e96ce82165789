import { expect, test } from "vitest";
import { calendarOf } from "../../src/console/schedules/calendar.ts";
import type { OccurrenceCountsReply } from "../../src/insight/occurrence-counts.ts";
import { describeInBrowser } from "./in-browser.ts";
import { ago, insert, jobRow, planting } from "./planted-console.ts";

type Quarter = OccurrenceCountsReply["quarters"][number];

const none = { succeeded: 0, failed: 0, stopped: 0, open: 0, nothing: 0, unknown: 0, late: 0, latestMs: null };
const quartersAt = (times: readonly string[]): readonly Quarter[] => times.map((at) => ({ ...none, at, succeeded: 1 }));

/** Of each cell: its column, and how many of its times succeeded. */
const cellsOf = (times: readonly string[], zone: string) =>
  calendarOf(quartersAt(times), zone).rows.map(({ day, cells }) => [
    day,
    ...cells.flatMap((cell, place) => (cell === null ? [] : [[place, cell.succeeded]])),
  ]);

test("hours are those of the zone's clock, also by half an hour, and one that a clock change repeats is one cell", () => {
  const evening = ["2026-11-20T18:15:00Z", "2026-11-20T18:30:00Z", "2026-11-20T19:30:00Z"];
  expect(cellsOf(evening, "Asia/Kolkata")).toEqual([
    ["2026-11-21", [0, 1], [1, 1]],
    ["2026-11-20", [23, 1]],
  ]);
  const twice = ["2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z", "2026-11-01T07:30:00Z"];
  expect(cellsOf(twice, "America/New_York")).toEqual([["2026-11-01", [1, 2], [2, 1]]]);
});

test("a schedule with one time a day has weeks down and weekdays across, without a gap", () => {
  const mornings = ["2026-11-01T08:00:00Z", "2026-11-02T08:00:00Z", "2026-11-17T08:00:00Z"];
  expect(cellsOf(mornings, "UTC")).toEqual([
    ["2026-11-16", [1, 1]],
    ["2026-11-09"],
    ["2026-11-02", [0, 1]],
    ["2026-10-26", [6, 1]],
  ]);
  expect(calendarOf([], "UTC").rows).toEqual([]);
});

await describeInBrowser("pictures", (its) => {
  test("a cell of a schedule's weeks says its counts, and lists its times; arrow keys walk the cells", async () => {
    const { page, problems } = await its.visit("/schedules/nightly-export", "Each cell has the colour");
    const cells = page.locator(".heat .square");
    const range = /nominal=(.*)\.\.(.*)$/;
    const last = cells.last();
    await last.hover();
    const said = await page.locator(".heat [role=status]").textContent();
    expect(said).toBe(await last.getAttribute("aria-label"));
    const words = (await cells.evaluateAll((all) => all.map((each) => each.ariaLabel))).join();
    expect(words).toMatch(/1 late, by 1 min 30 s at most/);
    await cells.first().focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 2, name: "Occurrences", exact: true }).waitFor();
    const [, from = "", to = ""] = range.exec(decodeURIComponent(page.url())) ?? [];
    expect(Date.parse(to) - Date.parse(from)).toBeLessThanOrEqual(3_600_000);
    await page.getByLabel("The newest times").selectOption("");
    await page.getByRole("heading", { level: 2, name: "Last 30 occurrences" }).waitFor();
    expect(problems).toEqual([]);
  });

  test("the last runs of a graph stand beside each other, and a cell opens the task of its run", async () => {
    const { page } = await its.visit("/runs/8?view=matrix", "One column a run");
    const failed = page.getByRole("link", { name: "match #7: Failed" });
    const row = page.getByRole("row").filter({ hasText: "match" });
    expect(await row.textContent()).toMatch(/1 \/ 2$/);
    expect(await page.locator(".heat .here").first().getAttribute("aria-label")).toMatch(/#8: Running/);
    await failed.click();
    await page.waitForURL(/\/console\/jobs\/\d+$/);
    await page.getByText("MISMATCH").first().waitFor();
  });

  test("of two hundred tasks in thirty runs those in view are drawn, and arrow keys reach the others", async () => {
    const { page } = await its.open();
    const all = Array.from({ length: 200 }, (_, n) => n);
    const run = {
      key: "k",
      state: "DONE",
      createdAt: ago(60),
      jobs: all.map(String),
      states: all.map(() => "SUCCESS"),
    };
    const runs = all.slice(0, 30).map((id) => ({ id: String(id), ...run }));
    await page.route(
      (url) => url.pathname === "/runs/8/matrix",
      (route) => route.fulfill({ json: { tasks: all.map((n) => `task-${n}`), runs, isMore: false } }),
    );
    await page.goto(its.at("/runs/8?view=matrix"));
    await page.locator(".heat .square").first().focus();
    expect(await page.locator(".heat .square").count()).toBeLessThan(2_000);
    for (let row = 0; row < 60; row += 1) await page.keyboard.press("ArrowDown");
    await page.getByRole("status").getByText("task-59 #0: Success").waitFor();
  });

  test("the load to come names the lane that has more than it runs, and a column lists what starts then", async () => {
    const due = { kind: "export-report", lane: "default", due_at: ago(-1_200) };
    await planting(its.api, (client) =>
      insert(
        client,
        "job",
        Array.from({ length: 30 }, (_, n) => jobRow(7_000 + n, "PENDING", due)),
      ),
    );
    const { page, problems } = await its.visit("/upcoming", "Load to come");
    await page.getByText(/default runs 20 at once: 1[0-2] more wait, at most [\d.]+ m?s/).waitFor();
    const column = page.getByRole("link", { name: /default 3[0-2] of 20/ });
    expect(
      await column.locator("i").evaluateAll((all) => all.filter(({ style }) => /repeat/.test(style.background)).length),
    ).toBe(1);
    await column.focus();
    await page.keyboard.press("ArrowLeft");
    const said = await page.locator(".load [role=status]").textContent();
    expect(said).toMatch(/^\d\d:\d\d – \d\d:\d\d: \d times? · default [12] of 20$/);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "All times" }).waitFor();
    const rows = page.getByRole("table", { name: "Time line" }).locator("tbody .row");
    // Each minute has a fire of "sweep", each fifth one of "outbox-retry" before it, each tenth one of "ping-often" too.
    expect((await rows.allTextContents()).join()).toMatch(/^([^,]*(outbox-retry|ping-often)[^,]*,)*[^,]*sweep[^,]*$/);
    expect(problems).toEqual([]);
  });

  test("the figures of a kind lead to how many attempts took how long; costs are of each kind, schedule or key", async () => {
    await its.api.pool.query(
      "insert into belfry.usage select (belfry.now() at time zone 'UTC')::date, 'export-report', 'default', '', 'ada', 9, 9, 9, 9",
    );
    const { page } = await its.visit("/kinds", "export-report");
    const costs = page.getByRole("region", { name: "Costs of this month" });
    await costs.getByRole("button", { name: "Key" }).click();
    await costs.getByRole("row").filter({ hasText: "ada" }).waitFor();
    await costs.getByRole("button", { name: "Schedule" }).click();
    await costs.getByRole("row").filter({ hasText: "(no schedule)" }).waitFor();
    await page
      .getByRole("row")
      .filter({ hasText: "export-report" })
      .getByRole("link", { name: /^55 ms/ })
      .first()
      .click();
    const chart = page.getByRole("img", { name: /^Running: 55 ms · 63 ms · 64 ms\. 45 ms – 64 ms: 90/ });
    await chart.waitFor();
    expect(await chart.textContent()).toMatch(/p50 p95 p99/);
  });

  test("a range is chosen beside the list, stands in the address, and names which time it is of", async () => {
    const { page } = await its.visit("/jobs", "Last error");
    const asked = page.waitForRequest(/\/jobs\?.*createdFrom=.*endedFrom=/);
    await page.getByLabel("Created at any time").selectOption({ label: "Created: Last hour" });
    await page.getByLabel("Ended at any time").selectOption({ label: "Ended: Last night" });
    const { searchParams } = new URL((await asked).url());
    expect(Date.parse(searchParams.get("endedTo") ?? "")).toBeGreaterThan(
      Date.parse(searchParams.get("endedFrom") ?? ""),
    );
    expect(new URL(page.url()).searchParams.get("q")).toBe("created:<1h ended:last-night");
    await page.goto(its.at("/?range=2999-01-01T00:00:00Z.."));
    await page.getByText("This range has not begun yet").waitFor();
  });

  test("the menu says how many need attention, and the crumbs of a run its schedule and time", async () => {
    const { page } = await its.visit("/", "Needs attention");
    const item = page.getByRole("listitem").filter({ has: page.getByRole("link", { name: "Dead letters" }) });
    await expect.poll(async () => item.locator(".badge").first().textContent()).toMatch(/^\d+$/);
    await page.goto(its.at("/runs/7"));
    await page.locator(".crumbs").getByRole("link", { name: "settlement" }).click();
    await page.waitForURL(/\/console\/schedules\/settlement$/);
  });
});
