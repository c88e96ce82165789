/** What can go wrong, each through the entry point that would meet it. Which alarms ring is written in docs/runbook.md. */
import { vi } from "vitest";
import { contractLimits } from "../../src/machine/contract-limits.ts";
import { deliveryLimits } from "../../src/machine/delivery-limits.ts";
import { scheduleLimits } from "../../src/machine/schedule.ts";
import { aRow } from "../core/rows.ts";
import type { Act } from "./alarm-app.ts";
import { type AlarmWorld, outside } from "./alarm-world.ts";
import { readHealth } from "../../src/insight/health.ts";
import { oneRow } from "../../src/insight/sql-query.ts";

type Fault = (world: AlarmWorld) => Promise<unknown>;

const items =
  (failed: number, after: Act = async () => {}): Act =>
  async (ctx, thrown) => {
    const page = { processed: 10, succeeded: 10 - failed, failed, hasMore: false };
    await ctx.batches({ size: 10, maxIterations: 1 }, async () => page);
    await after(ctx, thrown);
  };
const fails: Act = (_, { PermanentError }) => Promise.reject(new PermanentError("401 Unauthorized"));

/** With variables of its own for the tasks that start in between. */
async function within(variables: Record<string, string>, act: () => Promise<unknown>): Promise<void> {
  const before = Object.keys(variables).map((name) => [name, process.env[name] ?? ""] as const);
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  try {
    await act();
  } finally {
    for (const [name, value] of before) vi.stubEnv(name, value);
  }
}

/** A table that one part of the work needs is away for that long. */
async function without(world: AlarmWorld, table: string, act: () => Promise<unknown>): Promise<void> {
  await world.sql(`alter table belfry.${table} rename to away`);
  try {
    await act();
  } finally {
    await world.sql(`alter table belfry.away rename to ${table}`);
  }
}

const untilMinute = async (world: AlarmWorld): Promise<number> =>
  60_000 - ((await world.database.store.now()) % 60_000);

async function onTime(world: AlarmWorld): Promise<void> {
  await world.call("POST", "/schedules/ruled/resume", {});
  // To its next time: a wake that comes long after it would be late.
  const { rows } = await world.database.pool.query<{ ms: number }>(
    "select belfry.ms_until(next_at)::float8 as ms from belfry.schedule where id = 'ruled'",
  );
  await world.database.clock.advance(Math.max(0, (rows[0]?.ms ?? 0) - scheduleLimits.ruleGraceMs) + 200);
  await world.runSchedule("ruled");
  await world.call("POST", "/schedules/ruled/pause", {});
}

async function launchAndRun(world: AlarmWorld): Promise<void> {
  await world.enqueue("long");
  await world.work();
  await world.runLaunched();
}

/** Every entry point once, and nothing goes wrong. */
export const healthy: Fault = async (world) => {
  await world.begin(items(0));
  await onTime(world);
  await world.enqueue("batch", 3);
  await world.enqueue("sweep");
  await world.enqueue("notify");
  await world.enqueue("settlement");
  await world.work();
  await world.work("mail");
  await launchAndRun(world);
  await world.work();
  await world.drain([JSON.stringify({ jobId: "1", generation: 1, trace: "" })]);
  await world.call("GET", "/health");
  await world.pass();
};

export const idle: Fault = async (world) => {
  await world.begin();
  await world.pass();
};

/** One that ends with the scheduler's task, which reads what became of it. */
const seen =
  (fault: Fault, act?: Act): Fault =>
  async (world) => {
    await world.begin(act);
    await fault(world);
    await world.pass();
  };

const ruled: Fault = seen(onTime, items(5));
const inWorker = (kind: string, count = 1) =>
  seen(async (world) => {
    await world.enqueue(kind, count);
    await world.work();
  });

export const faults: Readonly<Record<string, Fault>> = {
  "no task runs": (world) => world.begin(),
  "five scheduler tasks at once": seen(async (world) => {
    await within({ BELFRY_PASS_MS: "1500" }, () => Promise.all(Array.from({ length: 5 }, () => world.pass())));
  }),
  "the lock store is away": seen((world) =>
    within({ AWS_ENDPOINT_URL_DYNAMODB: "http://127.0.0.1:9" }, () => world.pass()),
  ),
  "the lock store is away and nothing stands in": async (world) => {
    await world.begin();
    const away = { AWS_ENDPOINT_URL_DYNAMODB: "http://127.0.0.1:9", BELFRY_ON_LOCK_OUTAGE: "skip" };
    await within(away, () => world.pass());
  },
  "a step of the pass fails": async (world) => {
    await world.begin();
    await without(world, "schedule", () => world.pass());
  },
  "the upkeep fails": async (world) => {
    await world.begin();
    await without(world, "bulk", () => world.pass());
  },
  "the receiver of events refuses them": async (world) => {
    await world.begin();
    await world.pass();
    outside.webhookStatus = 500;
    await world.enqueue("batch");
    await within({ BELFRY_PASS_MS: "1500" }, () => world.pass());
  },
  "the archive refuses what is pruned": async (world) => {
    await world.begin();
    await world.enqueue("batch");
    await world.work();
    await world.pass();
    await world.sql("update belfry.job set finished_at = finished_at - interval '100 days'");
    await within({ BELFRY_ARCHIVE: "file:///dev/null/archive" }, () => world.pass());
  },
  "a time is left undecided": seen((world) =>
    world.sql(`insert into belfry.occurrence (schedule_id, local_time, fold, timezone, nominal_at, outcome, schedule_version, planned_at)
      values ('gone', 'a', 0, 'UTC', belfry.now() - interval '11 minutes', 'PLANNED', 1, belfry.now())`),
  ),
  "a run stays open for days": seen((world) =>
    world.sql(`insert into belfry.run (kind, key, version, state, sealed, total, created_at)
      values ('long', 'k', 1, 'RUNNING', true, 1, belfry.now() - interval '9 days')`),
  ),
  "dead rows pile up": seen(async (world) => {
    await world.sql("insert into belfry.lane (name) select n::text from generate_series(1, 20000) n");
    const client = await world.database.pool.connect();
    await client.query("delete from belfry.lane where name::int <= 15000");
    await client.query("select pg_stat_force_next_flush()");
    client.release();
  }),
  "a transaction stays open": async (world) => {
    await world.sql("delete from belfry.lane");
    await world.sql("vacuum belfry.lane");
    await world.begin();
    const client = await world.database.pool.connect();
    await client.query("begin isolation level repeatable read; select 1");
    try {
      await vi.waitFor(async () => {
        if ((await oneRow(world.database.insight, readHealth, 1)).oldestTransactionMs < 1_500)
          throw new Error("it is not old yet");
      }, 30_000);
      await world.pass();
    } finally {
      await client.query("rollback");
      client.release();
    }
  },
  "the database's clock stepped back": async (world) => {
    await world.begin();
    await world.sql(`insert into belfry.occurrence (schedule_id, local_time, fold, timezone, nominal_at, outcome, schedule_version, planned_at, decided_at)
      values ('gone', 'a', 0, 'UTC', belfry.now(), 'FIRED', 1, belfry.now(), belfry.now())`);
    await world.database.clock.advance(-60_000);
    await world.pass();
    await world.database.clock.advance(60_000);
  },
  "messages are sent again and again": async (world) => {
    await world.begin();
    const { clock, store } = world.database;
    for (const lane of ["default", "mail"]) {
      await store.insert(Array.from({ length: 101 }, () => ({ ...aRow, lane })));
    }
    await clock.advance(deliveryLimits.outboxOpenMs);
    // A first sender that dies; the pass is the second that sends again.
    await store.reopen({ olderThanMs: deliveryLimits.outboxOpenMs, limit: 10, messagesMax: 1_000 });
    await clock.advance(deliveryLimits.outboxOpenMs);
    await world.pass();
  },
  "workers go silent": async (world) => {
    await world.begin();
    // Claim and rescue fall into one minute, whose figures the second task reads.
    await world.database.clock.advance(await untilMinute(world));
    await world.enqueue("batch", 2);
    const { rows } = await world.database.pool.query<{ id: string }>("select id from belfry.job order by id");
    const [first] = rows;
    const claim = { jobId: first?.id as never, generation: 1, trace: "" };
    await world.database.store.claim([claim], { worker: "died", alone: false });
    await world.database.clock.advance(25_000);
    // Only what one process saw expired twice is rescued, a heartbeat apart.
    await within({ BELFRY_PASS_MS: String(contractLimits.leaseMsDefault / 2) }, () => world.pass());
    await world.database.clock.advance(60_000);
    await world.pass();
  },
  "half of the items of a rule's task fail": ruled,
  "half of the items of a function's job fail, then the job": seen(async (world) => {
    await world.begin(items(5, fails));
    await world.enqueue("batch");
    await world.work();
  }),
  "half of the items of a Fargate job fail": seen(launchAndRun, items(5)),
  "a job fails for good": seen(async (world) => {
    await world.begin(fails);
    await world.enqueue("batch");
    await world.work();
  }),
  "a Fargate job fails for good": seen(launchAndRun, fails),
  "a rule's job fails for good": seen(onTime, fails),
  "a run fails": seen(async (world) => {
    await world.begin(fails);
    await world.enqueue("settlement");
    await world.work();
    await world.work();
  }),
  "a wrong API key turns a day's notifications into dead letters": seen(async (world) => {
    await world.begin(fails);
    await world.enqueue("notify", 6);
    await world.work("mail");
  }),
  "an attempt takes six minutes": seen(async (world) => {
    await world.begin(() => world.database.clock.advance(360_000));
    await world.enqueue("batch");
    await world.work();
  }),
  "a job starts two minutes late": seen(async (world) => {
    await world.enqueue("batch");
    await world.database.clock.advance(120_000);
    await world.work();
  }),
  "a sweep starts two minutes late": seen(async (world) => {
    await world.enqueue("sweep");
    await world.database.clock.advance(120_000);
    await world.work();
  }),
  "a call has no answer": seen(async (world) => {
    await world.begin((_, { AmbiguousError }) => Promise.reject(new AmbiguousError("no answer")));
    await world.enqueue("batch");
    await world.work();
  }),
  "what a circuit's jobs call is down": seen(async (world) => {
    await world.begin(() => Promise.reject(Object.assign(new Error("refused"), { code: "DOWN" })));
    await world.enqueue("charge", 6);
    await world.work("mail");
  }),
  "a schedule misses its times": seen(async (world) => {
    await world.database.pool.query(
      "update belfry.schedule set decided_until = '2020-01-01Z', next_at = '2020-02-29Z' where id = 'yearly'",
    );
  }),
  "jobs do not get their lock": inWorker("locked", 8),
  "ECS refuses a task": seen(async (world) => {
    const refusal = { __type: "ClientException", message: "TaskDefinition is inactive" };
    outside.runTask = () => ({ status: 400, body: refusal });
    await world.enqueue("long");
    await world.work();
  }),
  "Fargate has no room": seen(async (world) => {
    const failures = [{ reason: "Capacity is unavailable at this time" }];
    outside.runTask = () => ({ status: 200, body: { tasks: [], failures } });
    await world.enqueue("long");
    await world.work();
  }),
  "a task never ends": seen(async () => {
    outside.tasksSince = Date.now() / 1_000 - 86_400;
  }),
  "a rule's task never ends": seen(async () => {
    outside.schedulerTasksSince = Date.now() / 1_000 - 86_400;
  }),
  "a message is not readable": seen((world) => world.drain(["{not json"])),
  "messages die before a worker claims them": seen(async (world) => {
    await world.enqueue("batch");
    const { rows } = await world.database.pool.query<{ id: string }>("select id from belfry.job");
    await world.drain([JSON.stringify({ jobId: rows[0]?.id, generation: 1, trace: "" })]);
  }),
  "the API answers 500": seen(async (world) => {
    await without(world, "lane", async () => {
      for (let n = 0; n < 7; n += 1) await world.call("GET", "/lanes");
    });
  }),
};
