import { expect, test } from "vitest";
import type { SummaryReply } from "../../src/api/shape/overview.ts";
import { openApi } from "./harness.ts";
import { plantJobs } from "../support/plant-jobs.ts";

type Opened = Awaited<ReturnType<typeof openApi>>;

/** Due jobs of two lanes; `mail` was paused, and what waits there is held. */
async function heldAndFree(): Promise<Opened> {
  const opened = await openApi();
  await plantJobs(opened.pool, "PENDING", 3);
  await plantJobs(opened.pool, "PENDING", 1_002, { lane: "'mail'", hold: "'paused'", held_on: "'lane:mail'" });
  await opened.pool.query(
    "insert into belfry.lane (name, paused_at) values ('mail', belfry.now()) on conflict do nothing",
  );
  return opened;
}

const count = async ({ call }: Opened, filter: string): Promise<unknown> =>
  ((await call("GET", `/jobs/counts?${filter}`)).body as unknown as Record<string, unknown>)["PENDING"];

test("held jobs and those that may start are counted apart: in the summary, in a list, in a count and in a change of many", async () => {
  const opened = await heldAndFree();
  const { live } = (await opened.call("GET", "/summary")).body as unknown as SummaryReply;
  expect(live).toMatchObject({ waiting: 3, held: 1_000, scheduled: 0 });
  expect(live.atLeast).toContain("held");
  expect(live.atLeast).not.toContain("waiting");
  expect(live.atLeast).not.toContain("scheduled");
  expect(await count(opened, "held=false")).toEqual({ count: 3, isMore: false });
  expect(await count(opened, "held=true&lane=mail")).toMatchObject({ count: 1_000, isMore: true });
  const list = (await opened.call("GET", "/jobs?held=false")).body as unknown as { jobs: { phase: string }[] };
  expect(list.jobs.map(({ phase }) => phase)).toEqual(Array.from({ length: 3 }, () => "waiting for dispatch"));
  for (const held of [false, "false"]) {
    const { body } = await opened.call("POST", "/bulk", {
      action: "cancel",
      filter: { held, state: "PENDING" },
      dryRun: true,
    });
    expect(body).toMatchObject({ matched: { count: 3, isMore: false } });
  }
  const wrong = await opened.call("GET", "/jobs?held=maybe");
  expect(wrong).toMatchObject({
    status: 400,
    body: { errors: [{ path: "?held", message: `must be true or false, not "maybe"` }] },
  });
});
