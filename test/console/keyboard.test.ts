import { expect, test } from "vitest";
import { describeInBrowser, posts } from "./in-browser.ts";

await describeInBrowser("the keyboard", (its) => {
  const { visit } = its;

  test("g and a letter go to every screen, and ? lists the keys", async () => {
    const { page } = await visit("/", "Last failures");
    for (const [key, title] of Object.entries(places)) {
      await page.keyboard.press("g");
      await page.keyboard.press(key);
      await page.getByRole("heading", { level: 1, name: title }).waitFor();
    }
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard" }).getByText("Go to Schedules").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(new URL(page.url()).pathname).toBe("/console/");
  });

  test("a filter is completed and applied by keys, and is in the address", async () => {
    const { page } = await visit("/jobs", "send-open-mail");
    await page.keyboard.press("/");
    await page.keyboard.type("sta");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.keyboard.type("fai");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(/q=state%3Afailed/);
    await page.goBack();
    await page.waitForURL(/jobs$/);
    await expect.poll(() => page.getByRole("combobox", { name: "Filter jobs" }).inputValue()).toBe("");
  });

  test("going back from a job shows the rows that were looked at, and a link to the list its beginning", async () => {
    const { page } = await visit("/jobs", "send-open-mail");
    const top = (): Promise<unknown> => page.evaluate("document.querySelector('main').scrollTop");
    await page.evaluate("document.querySelector('main').scrollTop = 306");
    await expect.poll(() => page.evaluate("Object.values(history.state ?? {})")).toContain(306);
    await page.getByRole("link", { name: /#417/ }).click();
    await page.getByText("Facts").waitFor();
    await page.goBack();
    await expect.poll(top).toBe(306);
    await page.getByRole("link", { name: "Overview" }).click();
    await page.getByRole("link", { name: "Jobs", exact: true }).click();
    await page.locator(".job-row").first().waitFor();
    expect(await top()).toBe(0);
  });

  test("rows are walked, marked and canceled by keys, after a question", async () => {
    const { page } = await visit("/jobs?q=state%3Apending%20lane%3Amail", "send-open-mail");
    for (const key of ["j", "j", "x", "j", "j", "X"]) await page.keyboard.press(key);
    await page.getByText("3 marked").waitFor();
    await page.keyboard.press("c");
    await page.getByRole("dialog", { name: "Cancel 3 jobs" }).waitFor();
    const before = posts(its.api);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(posts(its.api)).toEqual(before);
    await page.keyboard.press("c");
    await page.getByRole("button", { name: "Cancel 3 jobs" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("3 jobs canceled").waitFor();
    expect(posts(its.api).length).toBe(before.length + 3);
  });

  test("a failed job is opened and retried by keys", async () => {
    const { page } = await visit("/jobs", "send-open-mail");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.waitForURL(/jobs\/\d+$/);
    await page.goto(its.at("/jobs/1"));
    await page.getByText("Latest error").or(page.getByText("HTTP_502")).first().waitFor();
    await page.keyboard.press("r");
    await page.getByText("send-open-mail 1: retried").waitFor();
    expect(posts(its.api)).toContain("POST /jobs/1/retry");
  });

  test("single keys can be switched off, and the choice is kept", async () => {
    const { page } = await visit("/", "Last failures");
    await page.keyboard.press("?");
    await page.getByLabel(/Single-key shortcuts/).uncheck();
    await page.keyboard.press("Escape");
    await page.reload();
    await page.getByText("Last failures").waitFor();
    await page.keyboard.press("?");
    expect(await page.getByRole("dialog").count()).toBe(0);
  });
});

const places = {
  j: "Jobs",
  s: "Schedules",
  r: "Runs",
  d: "Dead letters",
  l: "Lanes & workers",
  k: "Locks",
  o: "Overview",
};
