import { expect, test } from "vitest";
import { describeInBrowser } from "./in-browser.ts";

const korean = { locale: "ko-KR" } as const;

await describeInBrowser("the page in two languages", (its) => {
  test("why a job waits, a schedule's expression and times are said in Korean", async () => {
    await its.visit("/jobs/3", "빈 슬롯을 기다립니다", korean);
    const { page } = await its.visit("/schedules/nightly-export", "다음 시각", korean);
    await page.locator(".lead", { hasText: "매일" }).waitFor();
    const times = await page.locator("main time").allInnerTexts();
    expect(times.filter((each) => !/\d\d:\d\d:\d\d/.test(each))).toEqual([]);
    await page.getByLabel("시간 표기").selectOption("relative");
    await page.locator("main time", { hasText: /전|후/ }).first().waitFor();
    expect(await page.locator("main time").allInnerTexts()).not.toContain("now");
  });

  test("the switch changes the language, and the choice is kept; a browser of neither language gets English", async () => {
    const { page } = await its.visit("/jobs?q=lane%3Amail", "Last error", { locale: "fr-FR" });
    expect(await page.locator("html").getAttribute("lang")).toBe("en");
    await page.getByLabel("Language").selectOption("ko");
    await page.getByText("마지막 오류").waitFor();
    expect(new URL(page.url()).search).toBe("?q=lane%3Amail");
    await page.reload();
    await page.getByText("마지막 오류").waitFor();
    await page.getByLabel("언어").selectOption("en");
    await page.getByText("Last error").waitFor();
  });
});

await describeInBrowser(
  "a browser in the C locale",
  (its) => {
    test("which names a language that is none, draws the chart and writes English", async () => {
      const { page, problems } = await its.visit("/", "Last failures", { locale: null });
      await page.locator(".night .gantt-bar").first().waitFor();
      expect(await page.locator("html").getAttribute("lang")).toBe("en");
      expect(problems).toEqual([]);
    });
  },
  { LC_ALL: "C" },
);
