import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeInBrowser, type ConsoleInBrowser } from "./in-browser.ts";

/** Looks at every drawing from now on: the most rows that were ever shown beside what is wrong with a filter. */
async function watchProblem(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(`
    globalThis.rowsBesideProblem = 0;
    new MutationObserver(() => {
      if (document.querySelector(".problem") === null) return;
      rowsBesideProblem = Math.max(rowsBesideProblem, document.querySelectorAll(".row").length);
    }).observe(document.body, { childList: true, subtree: true });
  `);
  return () => page.evaluate<number>("rowsBesideProblem");
}

const queriesOf = ({ api }: ConsoleInBrowser, path: string): readonly string[] =>
  api.queries.filter((each) => each.startsWith(path));

await describeInBrowser("schedules tell how they end", (its) => {
  test("a schedule whose last run failed is failing in the list, its squares say how many, and its page says why", async () => {
    const { page } = await its.visit("/schedules", "nightly-export");
    const row = page.getByRole("row").filter({ hasText: "nightly-export" });
    expect(await row.textContent()).toMatch(/Failing.*since/);
    expect(await row.getByRole("img").getAttribute("aria-label")).toMatch(/3 failed/);
    expect(await row.locator(".end-failed").count()).toBe(3);
    await row.getByRole("link", { name: "nightly-export" }).click();
    await page.getByRole("heading", { level: 2, name: "Last 30 occurrences" }).waitFor();
    const failed = page.getByRole("row").filter({ hasText: "BROKEN" }).first();
    expect(await failed.textContent()).toMatch(/Fired.*Failed.*no disk/);
  });

  test("a time that was never planned is explained by the schedule's clock", async () => {
    const { page } = await its.visit("/schedules/nightly-export", "Next times");
    await page.getByLabel(/at this time in Asia\/Seoul/).fill("2026-11-20T03:00");
    await page.getByRole("button", { name: "Explain" }).click();
    await page.getByText(/the schedule did not exist yet/).waitFor();
    await page.getByText(/to run it all the same/).waitFor();
    expect(queriesOf(its, "/schedules/nightly-export/explain").at(-1)).toContain("time=2026-11-20T03%3A00");
  });

  test("ten thousand schedules: one request brings the visible rows, and only those exist", async () => {
    await its.api.pool.query(
      `insert into belfry.schedule (id, app, version, source, spec, enabled, decided_until, ledger_from, created_at, updated_at)
       select made, app, 1, source, spec || jsonb_build_object('id', made), true, now(), now(), now(), now()
       from belfry.schedule cross join lateral (select 'schedule-' || lpad(n::text, 5, '0') as made from generate_series(0, 9999) n) m
       where id = 'nightly-export'`,
    );
    const { page, problems } = await its.open();
    const before = queriesOf(its, "/schedule-outcomes").length;
    const beforeEach = queriesOf(its, "/schedules/").length;
    await page.goto(its.at("/schedules?q=schedule-"));
    await page.getByRole("link", { name: "schedule-00000" }).waitFor();
    expect(queriesOf(its, "/schedule-outcomes").length - before).toBe(1);
    expect(queriesOf(its, "/schedules/").length).toBe(beforeEach);
    // The first rows are drawn before the page knows how many are visible.
    await expect.poll(async () => page.locator(".row").count()).toBeLessThan(60);
    await page.evaluate("document.querySelector('main').scrollTop = 1e9");
    await page.getByRole("link", { name: "schedule-09999" }).waitFor();
    await expect.poll(async () => page.locator(".row").count()).toBeLessThan(60);
    expect(queriesOf(its, "/schedule-outcomes").length - before).toBeLessThanOrEqual(4);
    expect(problems).toEqual([]);
  });

  test("words, fields and the order go to the server and stand in the address", async () => {
    const { page } = await its.visit("/schedules", "nightly-export");
    await page
      .getByRole("combobox", { name: "Filter schedules" })
      .fill("nightly state:failing zone:Asia/Seoul late:>10ms");
    await page.keyboard.press("Enter");
    const sorted = page.waitForRequest(/schedule-outcomes\?.*sort=next/);
    await page.getByRole("button", { name: "Next", exact: true }).click();
    const asked = new URL((await sorted).url()).searchParams;
    expect(Object.fromEntries(asked)).toMatchObject({
      text: "nightly",
      state: "failing",
      zone: "Asia/Seoul",
      lateOver: "10ms",
      sort: "next",
    });
    expect(new URL(page.url()).searchParams.get("sort")).toBe("next");
  });

  test("a mistyped filter of schedules matches nothing and asks nothing", async () => {
    const { page } = await its.open();
    const before = queriesOf(its, "/schedule-outcomes").length;
    await page.goto(its.at("/schedules?q=state%3Abroken"));
    await page.getByRole("alert").waitFor();
    expect(await page.locator(".row").count()).toBe(0);
    expect(queriesOf(its, "/schedule-outcomes").length).toBe(before);
  });
});

await describeInBrowser("a filter of jobs cannot hurt", (its) => {
  test("a mistyped one lists nothing in any drawing, offers no change of many, and asks for no jobs", async () => {
    const { page } = await its.visit("/jobs", "send-open-mail");
    const rowsBesideProblem = await watchProblem(page);
    await page.getByRole("combobox", { name: /^Filter/ }).fill("sate:queued kind:mail");
    await page.keyboard.press("Enter");
    await page.getByText("Nothing matches until the filter is corrected").waitFor();
    await page.getByRole("alert").getByText("is no field").waitFor();
    expect([await page.locator(".row").count(), await rowsBesideProblem()]).toEqual([0, 0]);
    const changes = page.getByRole("toolbar").or(page.getByRole("button", { name: /^Mark all/ }));
    expect(await changes.count()).toBe(0);
    const before = queriesOf(its, "/jobs").length;
    await page.goto(its.at("/jobs?q=sate%3Aqueued%20kind%3Amail"));
    await page.getByRole("alert").getByText("is no field").waitFor();
    await page.keyboard.press("a");
    await page.keyboard.press("c");
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(queriesOf(its, "/jobs").length).toBe(before);
  });

  test("the question repeats the filter, the kinds, the states, the count and the effect", async () => {
    const { page } = await its.visit("/jobs?q=lane%3Amail%20csv", "send-open-mail");
    await page.getByRole("button", { name: /^Mark all/ }).click();
    await page.getByRole("toolbar").getByRole("button", { name: "Cancel" }).click();
    const asked = await page.getByRole("dialog").textContent();
    for (const part of ["Cancel 20 jobs", "lane:mail csv", "send-open-mail", "Scheduled", "None of them will run"])
      expect(asked).toContain(part);
  });
});
