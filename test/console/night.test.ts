import { expect, test } from "vitest";
import { describeInBrowser } from "./in-browser.ts";

await describeInBrowser("the night", (its) => {
  test("each run is a bar by its end, light while it waited; a click opens the run", async () => {
    const { page, problems } = await its.visit("/", "The night");
    const row = page.getByRole("row").filter({ hasText: "nightly-export" });
    await row.locator(".gantt-bar").first().waitFor();
    expect(await row.locator(".gantt-bar").count()).toBe(3);
    expect(await row.textContent()).toMatch(/1 \/ 3$/);
    const failed = row.getByRole("link", { name: /failed #2 \(HTTP 503\)|failed #2 \(HTTP_503\)/ });
    await failed.hover();
    await page
      .getByRole("status")
      .getByText(/nightly-export: failed #2 .* waited .* ran /)
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
    expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toMatch(/failed #2/);
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/console\/jobs\/2$/);
  });

  test("a night of too many bars has counts by time, what failed on the ground, and the list behind each", async () => {
    const { page } = await its.visit("/?by=lane", "The night");
    const row = page.getByRole("row").filter({ hasText: "mail" }).first();
    await row.locator(".gantt-bar").first().waitFor();
    expect(await row.locator(".gantt-bar").count()).toBe(40);
    expect(await row.textContent()).toMatch(/12 \/ [\d,]+$/);
    await row
      .getByRole("link", { name: /3 failed/ })
      .first()
      .click();
    const { searchParams } = new URL(page.url());
    expect(searchParams.get("q")).toMatch(/^lane:mail created:\S+Z\.\.\S+Z$/);
  });

  test("the address says the range; without one it begins at six of the last evening by the reader's clock", async () => {
    const { page } = await its.open({ timezoneId: "America/St_Johns" });
    const asked = page.waitForRequest(/\/night\?/);
    await page.goto(its.at("/"));
    const from = new URL((await asked).url()).searchParams.get("from") ?? "";
    const clock = new Intl.DateTimeFormat("sv-SE", { timeZone: "America/St_Johns", timeStyle: "short" });
    expect(clock.format(new Date(from))).toBe("18:00");
    const again = page.waitForRequest(/\/night\?.*by=kind/);
    await page.goto(its.at("/?from=2026-11-01T03:00:00Z&to=2026-11-01T09:00:00Z&by=kind"));
    expect((await again).url()).toContain("from=2026-11-01T03%3A00%3A00.000Z&to=2026-11-01T09%3A00%3A00.000Z");
    // The clock of St John's goes from two back to one in that night: one o'clock is twice on the scale.
    const ticks = await page.locator(".night .axis > i").allTextContents();
    expect(ticks.filter((each) => each === "01:00").length).toBe(2);
  });
});
