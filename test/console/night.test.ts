import { expect, test } from "vitest";
import { describeInBrowser } from "./in-browser.ts";
import { ago, insert, jobRow, planting } from "./planted-console.ts";

await describeInBrowser("the night", (its) => {
  test("each run is a bar by its end, light while it waited; a click opens the run", async () => {
    const { page, problems } = await its.visit("/", "The night");
    const row = page.getByRole("row").filter({ hasText: "nightly-export" });
    const bars = row.locator(".gantt-bar");
    await bars.first().waitFor();
    const ends = await bars.evaluateAll((all) => all.map((bar) => String(bar.className).split(" ").at(-1)));
    expect(ends).toEqual(["succeeded", "stopped", "succeeded", "failed", "failed", "failed"]);
    expect(await row.textContent()).toMatch(/3 \/ 6$/);
    const failed = row.getByRole("link", { name: /failed #316 \(BROKEN\)/ });
    await failed.hover();
    await page
      .getByRole("status")
      .getByText(/nightly-export: failed #316 .* waited .* ran /)
      .waitFor();
    await page.getByRole("row").filter({ hasText: "settlement" }).locator(".gantt-bar").first().click();
    await page.getByText("Retry from failed").waitFor();
    expect({ path: new URL(page.url()).pathname, problems }).toEqual({ path: "/console/runs/7", problems: [] });
  });

  test("arrow keys walk the bars of a row and go to the next row, Enter opens", async () => {
    const { page } = await its.visit("/", "The night");
    await page.getByRole("row").filter({ hasText: "nightly-export" }).locator(".gantt-bar").first().focus();
    for (const key of ["ArrowRight", "ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp", "ArrowRight"]) {
      await page.keyboard.press(key);
    }
    expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toMatch(/failed #316/);
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/console\/jobs\/316$/);
  });

  test("a night of 50,000 runs has counts by time, what failed on the ground, and the list behind each", async () => {
    await planting(its.api, async (client) => {
      const times = (n: number) => ({ created_at: ago(n), due_at: ago(n), started_at: ago(n) });
      for (let from = 0; from < 50_000; from += 5_000) {
        const rows = Array.from({ length: 5_000 }, (_, n) => {
          return jobRow(2_000 + from + n, from + n < 12 ? "FAILED" : "SUCCESS", times(from + n));
        });
        await insert(client, "job", rows);
      }
    });
    const { page } = await its.open();
    const asked: string[] = [];
    page.on("request", (request) => request.resourceType() === "fetch" && asked.push(new URL(request.url()).pathname));
    await page.clock.install();
    await page.goto(its.at("/?by=lane"));
    const row = page.getByRole("row").filter({ hasText: "mail" }).first();
    await row.locator(".gantt-bar").first().waitFor();
    expect(await row.locator(".gantt-bar").count()).toBeGreaterThan(20);
    expect(await row.textContent()).toMatch(/54 \/ [\d,]+$/);
    await page.getByText("Live", { exact: true }).first().waitFor();
    await page.clock.runFor(3_000);
    expect(asked.toSorted()).toEqual(["/audits", "/events", "/night", "/summary"]);
    await row
      .getByRole("link", { name: /\d+ failed/ })
      .first()
      .click();
    const { searchParams } = new URL(page.url());
    expect(searchParams.get("q")).toMatch(/^lane:mail created:\S+Z\.\.\S+Z$/);
  });

  test("the address says the range; without one it begins at six of the last evening by the reader's clock", async () => {
    const at = "2026-11-01T04:00:00Z";
    await planting(its.api, async (client) => {
      const times = { created_at: at, due_at: at, started_at: at, finished_at: at };
      await insert(client, "job", [jobRow(60_000, "SUCCESS", times)]);
    });
    const { page } = await its.open({ timezoneId: "America/St_Johns" });
    const asked = page.waitForRequest(/\/night\?/);
    await page.goto(its.at("/"));
    const from = new URL((await asked).url()).searchParams.get("from") ?? "";
    const clock = new Intl.DateTimeFormat("sv-SE", { timeZone: "America/St_Johns", timeStyle: "short" });
    expect(clock.format(new Date(from))).toBe("18:00");
    const again = page.waitForRequest(/\/night\?.*by=kind/);
    await page.goto(its.at("/?range=2026-11-01T03:00:00Z..2026-11-01T09:00:00Z&by=kind"));
    expect((await again).url()).toContain("from=2026-11-01T03%3A00%3A00.000Z&to=2026-11-01T09%3A00%3A00.000Z");
    // The clock of St John's goes from two back to one in that night: one o'clock is twice on the scale.
    await page.locator(".night .gantt-bar").first().waitFor();
    const ticks = await page.locator(".night .axis > i").allTextContents();
    expect(ticks.filter((each) => each === "01:00").length).toBe(2);
  });
});
