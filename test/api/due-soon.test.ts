import { expect, test } from "vitest";
import type { UpcomingReply } from "../../src/api/shape/upcoming.ts";
import { insightLimits } from "../../src/insight/insight-limits.ts";
import { aJob } from "../contract/store/fixture.ts";
import { openApi } from "./harness.ts";
import { plantJobs } from "../support/plant-jobs.ts";

const minute = 60_000;
const clock = (at: string): string => at.slice(11, 16);

async function opened() {
  const { call, pool, store } = await openApi();
  await pool.query("update belfry.schedule set enabled = false, next_at = null");
  const comingUp = async (query = "") => {
    const { body } = await call("GET", `/upcoming?${query}`);
    const { jobs, parts, isMore } = body as unknown as UpcomingReply;
    return {
      jobs: jobs.map(({ kind, lane, jobs: many, firstAt, lastAt }) => [
        kind,
        lane,
        many,
        clock(firstAt),
        clock(lastAt),
      ]),
      parts: parts.flatMap((many, part) => (many === 0 ? [] : [[part, many]])),
      isMore,
    };
  };
  return { pool, store, comingUp };
}

test("jobs that wait for a time within the span come up by kind and lane, but not those that a schedule's own times show", async () => {
  const { pool, store, comingUp } = await opened();
  await store.installSlots([{ key: "cap:few", size: 1, onRefusal: "hold", reason: "slot" }]);
  const due = (minutes: number, over: object = {}) => aJob({ kind: "ping", delayMs: minutes * minute, ...over });
  await store.insert([
    ...[0, 1, 3, 20, 60].map((minutes) => due(minutes)),
    ...["later", "now", "past"].map((kind) => due(61, { kind })),
    due(30, { lane: "mail" }),
    due(45, { kind: "capped", slotKeys: ["cap:few"] }),
    // A message is out at 10 minutes, and waits to be sent at 54.
    ...[10, 54].flatMap((minutes) => ["next", "again", "target"].map((kind) => due(minutes, { kind }))),
  ]);
  await pool.query("update belfry.job set hold = 'slot', held_on = 'cap:few' where kind = 'capped'");
  await pool.query(
    "update belfry.job set due_at = belfry.now() - (kind = 'past')::int * interval '1 minute' where kind in ('now', 'past')",
  );
  // Its next time, one whose time has come and that runs again, and a target that was written ahead.
  await pool.query(
    `update belfry.job set schedule_id = 'ping-often', scheduled_for = due_at where kind in ('next', 'target')`,
  );
  await pool.query(
    `update belfry.job set schedule_id = 'ping-often', scheduled_for = belfry.now() where kind = 'again'`,
  );
  await pool.query(`update belfry.job set run_id = 1, task = 'target' where kind = 'target'`);
  const [again, capped, mail] = [
    ["again", "default", 2, "08:10", "08:54"],
    ["capped", "default", 1, "08:45", "08:45"],
    ["ping", "mail", 1, "08:30", "08:30"],
  ];
  const ping = ["ping", "default", 4, "08:01", "09:00"];
  expect(await comingUp()).toEqual({
    jobs: [ping, again, ["target", "default", 2, "08:10", "08:54"], mail, capped],
    parts: [
      [1, 1],
      [3, 1],
      [10, 2],
      [20, 1],
      [30, 1],
      [45, 1],
      [54, 2],
      [59, 1],
    ],
    isMore: false,
  });
  expect((await comingUp("lane=mail")).jobs).toEqual([mail]);
  expect((await comingUp("app=tests")).jobs).toEqual([ping, mail]);
});

test.each([
  ["wait", "PENDING", insightLimits.dueSoonRowsMax],
  ["are out", "QUEUED", insightLimits.outRowsMax],
] as const)(
  "of many jobs that %s so many are counted as are looked at, and the answer says that there are more",
  async (_, state, most) => {
    const { pool, comingUp } = await opened();
    const add = (jobs: number) => plantJobs(pool, state, jobs, { due_at: "belfry.now() + interval '1 minute'" });
    await add(most - 1);
    expect((await comingUp()).isMore).toBe(false);
    await add(2);
    expect(await comingUp()).toMatchObject({ isMore: true, parts: [[1, most]] });
  },
);

test("of the messages of each lane those that left last are looked at, within the time that one leaves early", async () => {
  const { pool, comingUp } = await opened();
  const out = (jobs: number, sent: string, over: object) =>
    plantJobs(pool, "QUEUED", jobs, { dispatched_at: `belfry.now() - interval '${sent}'`, ...over });
  const soon = { due_at: "belfry.now() + interval '1 minute'" };
  await out(insightLimits.outRowsMax, "1 minute", {});
  for (const lane of ["default", "mail"]) await out(1, "1 second", { ...soon, lane: `'${lane}'` });
  await out(1, "1 day", { ...soon, lane: "'mail'" });
  const { jobs, isMore } = await comingUp();
  expect({ jobs: jobs.map(([, lane, many]) => [lane, many]), isMore }).toEqual({
    jobs: [
      ["default", 1],
      ["mail", 1],
    ],
    isMore: true,
  });
  expect([(await comingUp("lane=mail")).isMore, await comingUp("lane=none")]).toMatchObject([false, { isMore: false }]);
});
