import { expect, test } from "vitest";
import { describeInBrowser, posts, tabTo } from "./in-browser.ts";

interface Action {
  readonly path: string;
  /** Of the button, as it is read out. */
  readonly button: string;
  /** The button that answers the question before it; null for what asks none. */
  readonly confirm: string | null;
  readonly post: string;
  readonly shown: string;
}

const actions: readonly Action[] = [
  { path: "/jobs/1", button: "Retry", confirm: null, post: "POST /jobs/1/retry", shown: "send-open-mail 1: retried" },
  { path: "/jobs/2", button: "Cancel", confirm: "Cancel the job", post: "POST /jobs/2/cancel", shown: "2: canceled" },
  { path: "/jobs/401", button: "Run now", confirm: null, post: "POST /jobs/401/run-now", shown: "401: made due" },
  {
    path: "/schedules/nightly-export",
    button: "Pause",
    confirm: "Pause the schedule",
    post: "POST /schedules/nightly-export/pause",
    shown: "nightly-export is paused",
  },
  {
    path: "/schedules/nightly-export",
    button: "Run now",
    confirm: null,
    post: "POST /schedules/nightly-export/trigger",
    shown: "nightly-export",
  },
  {
    path: "/runs/7",
    button: "Run again",
    confirm: "Run again",
    post: "POST /runs/7/rerun",
    shown: "Run 9 was started",
  },
  {
    path: "/runs/7",
    button: "Retry from failed",
    confirm: "Retry from failed",
    post: "POST /runs/7/retry",
    shown: "4 jobs of run 7",
  },
  {
    path: "/runs/8",
    button: "Cancel",
    confirm: "Cancel the run",
    post: "POST /runs/8/cancel",
    shown: "6 jobs of run 8",
  },
  {
    path: "/dead-letters",
    button: "Retry 3 of export-report, ENOSPC",
    confirm: "Retry 3 jobs",
    post: "POST /dead-letters/redrive",
    shown: "3 jobs retried",
  },
  {
    path: "/lanes",
    button: "Pause lane default",
    confirm: "Pause the lane",
    post: "POST /lanes/default/pause",
    shown: "Lane default is paused",
  },
  { path: "/lanes", button: "Resume lane mail", confirm: null, post: "POST /lanes/mail/resume", shown: "mail goes on" },
];

const inUtc = new Intl.DateTimeFormat("sv-SE", { timeZone: "UTC", dateStyle: "short", timeStyle: "short" });

await describeInBrowser("every action by keyboard alone", (its) => {
  test.each(actions)("$path: $button", async ({ path, button, confirm, post, shown }) => {
    const { page, problems } = await its.visit(path);
    await page.locator("main button").first().waitFor();
    await tabTo(page, button);
    let before = posts(its.api).length;
    await page.keyboard.press("Enter");
    if (confirm !== null) {
      await page.getByRole("dialog").waitFor();
      before = posts(its.api).length;
      await tabTo(page, confirm);
      await page.keyboard.press("Enter");
    }
    await page.getByText(shown).last().waitFor();
    expect(posts(its.api).slice(before)).toContain(post);
    expect(problems).toEqual([]);
  });

  test("a backfill is previewed, and starts only after its question", async () => {
    const { page } = await its.visit("/schedules/settlement", "Backfill");
    const backfills = () => posts(its.api).filter((each) => each.endsWith("/backfill")).length;
    const before = backfills();
    await page.getByLabel("From").fill(inUtc.format(Date.now() - 36 * 3_600_000));
    await tabTo(page, "Preview");
    await page.keyboard.press("Enter");
    const backfill = await page.getByRole("button", { name: /^Backfill [12] times?$/ }).innerText();
    expect(backfills()).toBe(before + 1);
    await tabTo(page, backfill);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: backfill }).waitFor();
    expect(backfills()).toBe(before + 1);
    await tabTo(page, backfill);
    await page.keyboard.press("Enter");
    await page.getByText(/^[12] times? planned/).waitFor();
    expect(backfills()).toBe(before + 2);
  });

  test("a job that waits for a slot leads to the page where its cap is changed", async () => {
    const { page } = await its.visit("/jobs/3", "waits for a slot");
    await page.getByRole("note").getByRole("link", { name: "Lanes & workers" }).click();
    await expect.poll(() => page.getByRole("button", { name: /^Change/ }).count()).toBe(1);
  });

  test("a lane is paused with an end by the reader's clock, and with a reason", async () => {
    const { page } = await its.visit("/lanes", "default");
    await page.getByRole("button", { name: "Pause lane mail" }).click();
    await page.getByLabel("Until").fill("6:00");
    await page.getByLabel("Reason").fill("the provider is away");
    await page.keyboard.press("Enter");
    await page.getByText("Lane mail is paused").waitFor();
    expect(its.api.bodies.at(-1)).toEqual({ until: "6:00", timezone: "Asia/Seoul", reason: "the provider is away" });
  });

  test("several groups of dead letters are retried at a pace, one of each first, after all is said again", async () => {
    const { page } = await its.visit("/dead-letters", "HTTP_503");
    await page.getByText("3 samples").first().click();
    await page.getByLabel("Mark send-open-mail, HTTP_503").check();
    await page.getByLabel("Mark ping, BROKEN").check();
    await page.getByText("2 groups").waitFor();
    await page.getByRole("button", { name: "Retry 44 jobs" }).click();
    const dialog = page.getByRole("dialog", { name: "Retry 44 jobs" });
    await dialog.getByText("ping").first().waitFor();
    await dialog.getByLabel("Pace").fill("1s");
    await dialog.getByRole("button", { name: "Retry 44 jobs" }).click();
    await page.getByText("Retrying 2 of 44").waitFor();
    const sent = its.api.bodies.findLast((each) => "pace" in each && !("dryRun" in each));
    const fingerprint: unknown = expect.toSatisfy((of: readonly string[]) => new Set(of).size === 2);
    expect(sent).toEqual({ filter: { fingerprint }, pace: "1s" });
  });
});
