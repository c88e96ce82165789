import type { Page } from "playwright-core";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { definitionOf } from "../../src/define/define-job.ts";
import { ping } from "../api/harness.ts";
import { until } from "../local/until.ts";
import { describeInBrowser } from "./in-browser.ts";

await describeInBrowser("the live page", (its) => {
  const { open, at } = its;
  let newest = "";
  /** A change of state: a new job. */
  const change = async (): Promise<void> => {
    const [made] = await its.api.client.enqueue(definitionOf(ping), [{ payload: undefined }]);
    newest = made?.id ?? "";
  };
  const shown = (page: Page) => page.getByRole("link", { name: `#${newest}` }).waitFor();

  // The server learns a little later that the page of the test before is gone.
  beforeEach(() => until("no page listens", () => its.api.streams.listeners() === 0));

  test("a stream that is cut ten times shows every change", async () => {
    const { page, problems } = await its.visit("/jobs", "Last error");
    for (let cut = 0; cut < 10; cut += 1) {
      await until("the page listens", () => its.api.streams.listeners() > 0);
      its.api.streams.cut();
      await change();
      await shown(page);
    }
    expect(its.api.streams.resumed.filter((id) => id !== null).length).toBeGreaterThanOrEqual(9);
    expect(problems).toEqual([]);
  });

  test("a page whose stream stays away says that it may be old, and that it is live again", async () => {
    const { page } = await open();
    await page.goto(at("/"));
    await page.getByText("Live", { exact: true }).first().waitFor();
    await page.route("**/events", (route) => route.abort());
    its.api.streams.cut();
    await page.getByText("what you see may be old").waitFor();
    expect(await page.getByRole("alert").textContent()).toMatch(/last heard (now|\d)/);
    await page.unroute("**/events");
    await page.getByText("what you see may be old").waitFor({ state: "hidden" });
  });

  test("a page whose server ends each answer at once asks again and again, and is live", async () => {
    its.api.streams.endsAtOnce = true;
    onTestFinished(() => void (its.api.streams.endsAtOnce = false));
    const { page, problems } = await open();
    await page.goto(at("/jobs"));
    const before = its.api.streams.resumed.length;
    await until("it has asked again", () => its.api.streams.resumed.length > before + 3);
    await change();
    await shown(page);
    await page.getByText("Live", { exact: true }).first().waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(problems).toEqual([]);
  });

  test("a hidden tab stops listening, and catches up when it is looked at again", async () => {
    const { page } = await its.visit("/jobs", "Last error");
    await until("it listens", () => its.api.streams.listeners() === 1);
    await page.evaluate(hide(true));
    await until("it stopped", () => its.api.streams.listeners() === 0);
    await change();
    await page.evaluate(hide(false));
    await shown(page);
    expect(its.api.streams.listeners()).toBe(1);
  });
});

const hide = (isHidden: boolean): string => `
  Object.defineProperty(document, "hidden", { configurable: true, get: () => ${isHidden} });
  document.dispatchEvent(new Event("visibilitychange"));
`;
