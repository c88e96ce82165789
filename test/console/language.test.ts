import { expect, test } from "vitest";
import { violations } from "./browser.ts";
import { describeInBrowser } from "./in-browser.ts";

const korean = { locale: "ko-KR" } as const;

/** Each screen with a text that only its Korean catalogue has. */
const screens = [
  { path: "/", text: "처리량" },
  { path: "/jobs", text: "마지막 오류" },
  { path: "/jobs/1", text: "이벤트" },
  { path: "/jobs/2", text: "마지막 하트비트" },
  { path: "/schedules", text: "최근 30번" },
  { path: "/schedules/nightly-export", text: "다음 시각" },
  { path: "/upcoming", text: "남은 시간" },
  { path: "/kinds", text: "느린 순" },
  { path: "/runs", text: "걸린 시간" },
  { path: "/runs/7", text: "실패한 곳부터 재시도" },
  { path: "/dead-letters", text: "HTTP_503" },
  { path: "/lanes", text: "최대 워커" },
  { path: "/locks", text: "펜스 설치" },
] as const;

await describeInBrowser("the page in two languages", (its) => {
  test.each(screens)("$path is Korean in a Korean browser, also for those who hear it", async ({ path, text }) => {
    const { page, problems, close: leave } = await its.visit(path, text, korean);
    expect(await page.locator("html").getAttribute("lang")).toBe("ko");
    expect(await page.getByRole("navigation").innerText()).not.toMatch(/Overview|Schedules|Dead letters/);
    expect(await page.title()).toMatch(/ · Belfry$/);
    expect(await violations(page)).toEqual([]);
    expect(problems).toEqual([]);
    await leave();
  });

  test("a schedule's expression and times are said in Korean", async () => {
    const { page, close: leave } = await its.visit("/schedules/nightly-export", "다음 시각", korean);
    await page.locator(".lead", { hasText: "매일" }).waitFor();
    const times = await page.locator("main time").allInnerTexts();
    expect(times.filter((each) => !/\d\d:\d\d:\d\d/.test(each))).toEqual([]);
    await page.getByLabel("시간 표기").selectOption("relative");
    await page.locator("main time", { hasText: /전|후/ }).first().waitFor();
    expect(await page.locator("main time").allInnerTexts()).not.toContain("now");
    await leave();
  });

  test("the switch changes the language, and the choice is kept; a browser of neither language gets English", async () => {
    const { page, close: leave } = await its.visit("/jobs?q=lane%3Amail", "Last error", { locale: "fr-FR" });
    expect(await page.locator("html").getAttribute("lang")).toBe("en");
    await page.getByLabel("Language").selectOption("ko");
    await page.getByText("마지막 오류").waitFor();
    expect(new URL(page.url()).search).toBe("?q=lane%3Amail");
    await page.reload();
    await page.getByText("마지막 오류").waitFor();
    await page.getByLabel("언어").selectOption("en");
    await page.getByText("Last error").waitFor();
    await leave();
  });
});
