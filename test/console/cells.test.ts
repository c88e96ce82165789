import { expect, test } from "vitest";
import { describeInBrowser } from "./in-browser.ts";
import { jobOf, summary } from "./scene.ts";

await describeInBrowser("several cells", (its) => {
  const { open, at } = its;

  test.each([
    ["en-US", "Cell b stopped answering 13 min ago: its jobs and figures are missing here."],
    ["ko-KR", "b 셀이 13분 전부터 응답하지 않습니다. 이 셀의 작업과 수치는 여기에 없습니다."],
  ])("the page says in %s which cell is away and since when, until it is back", async (locale, said) => {
    const { page, problems } = await open({ locale });
    let isAway = true;
    await page.route("**/summary*", async (route) => {
      const since = new Date(Date.now() - 13 * 60_000 - 5_000).toISOString();
      const cellsAway = isAway ? [{ cell: "b", since }] : [];
      await route.fulfill({ json: { ...summary, cellsAway } });
    });
    await page.goto(at("/"));
    const banner = page.getByRole("alert").getByText(said);
    await banner.waitFor();
    // The answer of another screen that knows no cells leaves it.
    await page.goto(at("/lanes"));
    await page.goto(at("/"));
    await banner.waitFor();
    isAway = false;
    await banner.waitFor({ state: "hidden", timeout: 20_000 });
    expect(problems).toEqual([]);
  });

  test("ids of a cell, of thirteen digits, are whole in the list", async () => {
    const { page } = await open();
    await page.setViewportSize({ width: 1280, height: 800 });
    const ids = ["1000000000065", "1000000123456"];
    await page.route("**/jobs?*", (route) =>
      route.fulfill({
        json: {
          jobs: ids.map((id) => ({ ...jobOf(1), id, kind: "send-a-long-named-mail" })),
          nextCursor: null,
          complete: true,
        },
      }),
    );
    await page.goto(at("/jobs"));
    for (const id of ids) {
      const shown = page.getByText(`#${id}`, { exact: true });
      await shown.waitFor();
      const cut = await shown.evaluate(
        (element: { getBoundingClientRect(): { right: number }; closest(of: string): unknown }) => {
          const cell = element.closest(".kind-cell") as { getBoundingClientRect(): { right: number } };
          return element.getBoundingClientRect().right - cell.getBoundingClientRect().right;
        },
      );
      expect(cut).toBeLessThanOrEqual(0);
    }
  });
});
