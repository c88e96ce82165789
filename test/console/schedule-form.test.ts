import { expect, test } from "vitest";
import { changedSettings, splitExpression } from "../../src/console/schedules/when.ts";
import { violations } from "./browser.ts";
import { describeInBrowser, tabTo } from "./in-browser.ts";

const before = {
  kind: "clean-up",
  form: "cron",
  text: "0 8 * * *",
  timezone: "Asia/Seoul",
  overlap: "skip",
  misfire: "all",
} as const;

test("a changed schedule sends only what was changed, and its time zone only with cron", () => {
  expect(changedSettings(before, before)).toEqual({});
  expect(changedSettings({ ...before, timezone: "UTC" }, before)).toEqual({ cron: "0 8 * * *", timezone: "UTC" });
  expect(changedSettings({ ...before, form: "every", text: "5m", overlap: "allow" }, before)).toEqual({
    every: "5m",
    overlap: "allow",
  });
  expect(changedSettings(before, null)).toMatchObject({ kind: "clean-up", cron: "0 8 * * *", misfire: "all" });
});

test("an expression as it is listed goes back into its form", () => {
  expect(["0 8 * * *", "every 5m", "at 2026-12-24T18:00:00.000Z"].map(splitExpression)).toEqual([
    { form: "cron", text: "0 8 * * *" },
    { form: "every", text: "5m" },
    { form: "at", text: "2026-12-24T18:00:00.000Z" },
  ]);
});

await describeInBrowser("schedules that no code defines", (its) => {
  const asked = (since: number): readonly string[] =>
    its.api.requests.slice(since).filter((each) => !each.startsWith("GET"));

  test("one is made by keyboard, with its next times and clock changes as it is written", async () => {
    const { page, problems } = await its.visit("/schedules", "nightly-export");
    await tabTo(page, "New schedule");
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "New schedule" });
    await dialog.getByLabel("minute hour day month weekday").fill("0 8 * *");
    const save = dialog.getByRole("button", { name: "Save the schedule" });
    const foot = await save.boundingBox();
    await dialog.getByText("has 4 fields").waitFor();
    await dialog.getByLabel("minute hour day month weekday").fill("30 2 * * 0L");
    await dialog.getByLabel("Time zone").fill("Europe/Berlin");
    await dialog.getByText("the clock skips 02:30").waitFor();
    // A button that moves between press and release is not clicked.
    expect(await save.boundingBox()).toEqual(foot);
    expect(await violations(page)).toEqual([]);
    await dialog.getByLabel("Id").fill("by-hand");
    await dialog.getByLabel("Kind").selectOption("send-open-mail");
    await dialog.getByLabel("reportId").fill("9");
    const since = its.api.requests.length;
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "by-hand" }).waitFor();
    expect(asked(since)).toEqual(["POST /schedules"]);
    expect(its.api.bodies.at(-1)).toEqual({
      id: "by-hand",
      kind: "send-open-mail",
      cron: "30 2 * * 0L",
      timezone: "Europe/Berlin",
      overlap: "skip",
      misfire: "latest",
      payload: { reportId: 9 },
    });
    expect(problems).toEqual([]);
  });

  test("one is changed, and deleted after a question; what code defines is neither", async () => {
    await its.api.call("POST", "/schedules", { id: "by-api", kind: "clean-up", every: "1h" });
    const { page, problems } = await its.visit("/schedules/by-api", "Next times");
    await page.getByRole("button", { name: "Edit" }).click();
    const dialog = page.getByRole("dialog", { name: "Edit by-api" });
    await dialog.getByLabel("While the one before runs").selectOption("skip");
    let since = its.api.requests.length;
    await dialog.getByRole("button", { name: "Save the schedule" }).click();
    await page.getByText("by-api is saved").waitFor();
    expect(asked(since)).toEqual(["PATCH /schedules/by-api"]);
    expect(its.api.bodies.at(-1)).toEqual({ overlap: "skip" });
    since = its.api.requests.length;
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("by-api is deleted").waitFor();
    expect(asked(since)).toEqual(["DELETE /schedules/by-api"]);
    await page.goto(its.at("/schedules/nightly-export"));
    await page.getByText("Next times").first().waitFor();
    expect(await page.getByRole("button", { name: "Edit" }).count()).toBe(0);
    expect(problems).toEqual([]);
  });

  test.each(["/jobs/1", "/schedules/nightly-export", "/runs/7", "/lanes", "/dead-letters"])(
    "%s says who changed it",
    async (path) => {
      const { page } = await its.visit(path, "Who changed it");
      await page.getByText("Who changed it").click();
      await page.getByText("the source is being moved").waitFor();
      expect(its.api.queries.findLast((each) => each.startsWith("/audits"))).toContain("target=%2F");
      expect(await violations(page)).toEqual([]);
    },
  );
});
