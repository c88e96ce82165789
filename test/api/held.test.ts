import { expect, test } from "vitest";
import type { SummaryReply } from "../../src/api/shape/overview.ts";
import { openApi } from "./harness.ts";

type Opened = Awaited<ReturnType<typeof openApi>>;

/** Due jobs of two lanes; `mail` was paused, and what waits there is held. */
async function heldAndFree(): Promise<Opened> {
  const opened = await openApi();
  const insert = (lane: string, jobs: number): Promise<unknown> =>
    opened.pool.query(
      `insert into belfry.job (kind, payload, lane, state, hold, held_on, event_id, generation, max_attempts, lease_ms,
         retention_ms, trace, created_at, due_at)
       select 'ping', 'null', $1, 'PENDING', case when $1 = 'mail' then 'paused' else 'none' end::belfry.job_hold,
         case when $1 = 'mail' then 'lane:mail' else '' end, 0, 1, 4, 20000, 2592000000, 't', belfry.now(), belfry.now()
       from generate_series(1, $2::int) n`,
      [lane, jobs],
    );
  await insert("default", 3);
  await insert("mail", 1_002);
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
