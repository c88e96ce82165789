import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import type { SummaryReply } from "../../src/api/shape/overview.ts";
import type { ScheduleOutcomeListReply } from "../../src/api/shape/schedule-outcome.ts";
import { describeInBrowser } from "./in-browser.ts";
import { ago, insert, jobRow, planting } from "./planted-console.ts";

/** Patches an answer of the API. */
const patched = (page: Page, path: string, patch: (reply: never) => object): Promise<unknown> => {
  onTestFinished(() => page.unrouteAll({ behavior: "ignoreErrors" }));
  return page.route(
    (url) => url.pathname === path,
    async (route) => {
      const reply = (await (await route.fetch()).json()) as never;
      await route.fulfill({ json: { ...(reply as object), ...patch(reply) } });
    },
  );
};

await describeInBrowser("what a job waits for, in words", (its) => {
  test("the cards name it, each with a plus by its own count only, and lead to exactly those jobs", async () => {
    const { page } = await its.open();
    await patched(page, "/summary", ({ live }: SummaryReply) => ({
      live: { ...live, waiting: 12, scheduled: 38, held: 3, isMore: true, atLeast: ["waiting", "held"] },
    }));
    await page.goto(its.at("/"));
    const cards = page.locator(".cards a");
    await cards.first().waitFor();
    const shown = await cards.evaluateAll((all) =>
      all.slice(0, 4).map((card) => {
        const read = (part: string): string => card.querySelector(`.stat-${part}`)?.textContent ?? "";
        return [
          read("name"),
          read("value"),
          new URL(card.getAttribute("href") ?? "", "http://a").searchParams.get("q"),
        ];
      }),
    );
    const notStarted = "state:pending,queued,retry_wait";
    expect(shown).toEqual([
      ["Scheduled", "38", `${notStarted} due:>0s held:no`],
      ["Waiting", "12+", `${notStarted} due:past held:no`],
      ["Held", "3+", `${notStarted} held:yes`],
      ["Running", "1", "state:running"],
    ]);
    await page.getByRole("link", { name: /^Held/ }).click();
    await page.getByText("Last error").waitFor();
    expect(its.api.queries.findLast((each) => each.startsWith("/jobs?"))).toContain("held=true");
  });

  test.each([
    ["en-US", ["Scheduled", "Waiting", "Waiting", "Held: slot", "Held: pause", "Held: tasks", "Retrying"]],
    ["ko-KR", ["예약됨", "대기 중", "대기 중", "보류: 슬롯", "보류: 중지", "보류: 선행", "재시도 대기"]],
  ])("the rows of jobs say it, in %s, and none is cut", async (locale, words) => {
    const of = { kind: "waits", lane: "default" };
    const due = { ...of, due_at: ago(30) };
    const held = (hold: string) => ({ ...due, hold, held_on: hold === "slot" ? "cap:export-report" : "lane:mail" });
    const rows = [
      jobRow(9_007, "PENDING", of),
      jobRow(9_006, "QUEUED", of),
      jobRow(9_005, "PENDING", due),
      jobRow(9_004, "PENDING", held("slot")),
      jobRow(9_003, "PENDING", held("paused")),
      jobRow(9_002, "PENDING", { ...due, blocked: true }),
      jobRow(9_001, "RETRY_WAIT", { ...of, due_at: ago(-3_600) }),
    ];
    await planting(its.api, async (client) => {
      await client.query("delete from belfry.job where id > 9000");
      await insert(client, "job", rows);
    });
    const { page } = await its.open({ locale });
    await page.goto(its.at("/jobs?q=kind%3Awaits"));
    const cells = page.locator(".job-row .state-cell");
    await cells.nth(words.length - 1).waitFor();
    expect(await cells.allInnerTexts()).toEqual(words);
    expect(await cells.evaluateAll((all) => all.filter((cell) => cell.scrollWidth > cell.clientWidth).length)).toBe(0);
  });

  test("a time whose job has not ended says what the job waits for", async () => {
    const { page } = await its.open();
    await patched(page, "/schedule-outcomes", ({ schedules }: ScheduleOutcomeListReply) => ({
      schedules: schedules.map(({ times, ...each }) => {
        const [paused, running] = (times?.occurrences ?? []).map(({ end, ...occurrence }, index) => ({
          ...occurrence,
          end: { ...end, result: "open", phase: ["paused", "running"][index], state: ["PENDING", "RUNNING"][index] },
        }));
        return { ...each, times: { ...times, occurrences: [paused, running] } };
      }),
    }));
    await page.goto(its.at("/schedules/nightly-export"));
    const table = page.getByRole("table", { name: "Past times" });
    await expect.poll(() => table.getByRole("row").nth(1).textContent()).toContain("Held: pause");
    expect(await table.getByRole("row").nth(2).textContent()).toContain("Running");
  });
});

await describeInBrowser("what comes up", (its) => {
  test("app and lane are chosen from those that come up, stand in the address, and are asked for", async () => {
    const { page } = await its.open();
    await patched(page, "/upcoming", () => ({ apps: ["scene", "shop"] }));
    const asked: string[] = [];
    page.on("request", (request) => {
      const url = new URL(request.url());
      if (url.pathname === "/upcoming") asked.push(url.search);
    });
    await page.goto(its.at("/upcoming"));
    const app = page.getByRole("combobox", { name: "App" });
    await app.getByRole("option", { name: "shop" }).waitFor({ state: "attached" });
    expect(await app.getByRole("option").allInnerTexts()).toEqual(["All apps", "scene", "shop"]);
    await app.selectOption("scene");
    await page.getByRole("combobox", { name: "Lane" }).selectOption("default");
    await expect.poll(() => new URLSearchParams(asked.at(-1)).toString()).toMatch(/app=scene.*lane=default/);
    expect(new URL(page.url()).searchParams.get("app")).toBe("scene");
    await page.goBack();
    await expect.poll(() => page.getByRole("combobox", { name: "Lane" }).inputValue()).toBe("");
    expect(await app.inputValue()).toBe("scene");
  });

  test("runs are found by the whole kind and key, which stand in the address", async () => {
    const { page } = await its.visit("/runs?state=FAILED", "settlement");
    await page.getByRole("searchbox", { name: "Key" }).fill("2026-11-20");
    await page.keyboard.press("Enter");
    await expect
      .poll(() => its.api.queries.findLast((each) => each.startsWith("/runs?")))
      .toMatch(/state=FAILED.*key=2026-11-20/);
    expect(new URL(page.url()).searchParams.get("key")).toBe("2026-11-20");
  });
});

await describeInBrowser("what the clock does", (its) => {
  test.each([
    ["en-US", "the clock skips 02:30 (it jumps from 02:00 to 03:00): does not run"],
    ["ko-KR", "시계가 02:30 시각을 건너뜀(02:00 → 03:00): 실행되지 않음"],
  ])("a time that a clock change skips says so, in %s", async (locale, text) => {
    const { page } = await its.visit("/schedules/spring", undefined, { locale });
    await expect.poll(() => page.getByRole("main").textContent()).toContain(text);
  });

  test("a range is written with 24 hours in an English browser; another form is refused where it stands", async () => {
    const { page } = await its.visit("/schedules/nightly-export", "Backfill");
    const from = page.getByLabel("From");
    expect(await from.inputValue()).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d$/);
    await from.fill("11/22/2026 2:00 PM");
    await page.getByRole("button", { name: "Preview" }).click();
    expect(await page.evaluate("document.querySelector('.field:user-invalid').validationMessage")).toContain(
      "24 hours",
    );
    expect(its.api.requests.filter((each) => each.endsWith("/backfill"))).toEqual([]);
    await from.fill("2026-11-22 14:00");
    await page.getByRole("button", { name: "Preview" }).click();
    await expect.poll(() => its.api.bodies.at(-1)).toMatchObject({ from: "2026-11-22T05:00:00.000Z", dryRun: true });
  });
});
