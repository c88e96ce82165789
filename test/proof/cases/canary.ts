import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beginBulk, readBulks } from "../../../src/insight/bulk.ts";
import { killNowAndThen } from "../killer.ts";
import { assessSuccess, judge } from "../judge.ts";
import { type Proof, seeded } from "../proof.ts";
import { startSystem, type System } from "../system.ts";
import { until } from "../until.ts";
import { sendAgain } from "./transfers.ts";

const jobs = 400;
const workers = 4;

/** Dead letters that fail again, and then succeed: redriven in steps while workers and schedulers die. */
export const canaryProof: Proof = {
  name: "canary",
  about: `${jobs} dead letters, redriven by 1, 10 and all, 5 % of the messages twice, random kill -9 of workers and schedulers: stops after 1 while they fail, then each runs once, in steps`,
  guards: ["steps"],
  async run(context, list) {
    const random = seeded(context.seed);
    const down = join(context.folder, "down");
    const system = await startSystem(context, {
      app: "budget",
      lane: () => ({ visibilityTimeoutSeconds: 4, concurrency: workers }),
    });
    writeFileSync(down, "");
    await system.install();
    const wakes = system.wakes({ everyMs: 0 });
    const fleet = system.fleet({ deadLetters: true });
    const count = Math.round(jobs * context.size);
    await system.enqueue(
      "mail",
      Array.from({ length: count }, (_, n) => ({ payload: { n, down } })),
    );
    await until("all to fail", 120_000, async () => (await system.openJobs()) === 0);
    const killer = killNowAndThen(system, fleet.pids, { everyMs: 2_000, random });
    const stopped = await redriven(system, count, random);
    list.expect(
      "it stops after one that fails again",
      stopped?.state === "STOPPED" && stopped.changed === 1,
      stopped?.changed ?? -1,
    );
    const again = await system.count("belfry.history where reason = 'retry' and from_state = 'FAILED'");
    list.expect("nothing else was retried", again === 1, again);
    rmSync(down);
    const done = await redriven(system, count, random);
    list.expect("it goes on when they succeed", done?.state === "DONE", done?.state ?? "none");
    await until("all jobs to end", 120_000, async () => (await system.openJobs()) === 0);
    await until("the outbox to be empty", 120_000, async () => (await system.count("belfry.outbox")) === 0);
    killer.stop();
    await wakes.stop();
    await fleet.stop();
    const tables = await judge(list, system, {});
    assessSuccess(list, tables.jobs);
    const { rows } = await system.pool.query<{ first: number; second: number; most: number }>(`
      with retried as (select job_id, at, row_number() over (partition by job_id order by id desc) as n from belfry.history
        where reason = 'retry' and from_state = 'FAILED'),
      last as (select r.at, j.finished_at from retried r join belfry.job j on j.id = r.job_id where r.n = 1),
      ends as (select finished_at, row_number() over (order by finished_at) as n from belfry.job)
      select (select count(*)::int from last where at < (select finished_at from ends where n = 1)) as first,
        (select count(*)::int from last where at < (select finished_at from ends where n = 10)) as second,
        (select max(n)::int from retried) as most`);
    const { first = 0, second = 0, most = 0 } = rows[0] ?? {};
    list.expect("one was retried before the first success", first === 1, first);
    list.expect("eleven were retried before the tenth success", second <= 11, second);
    list.expect("no job was retried twice by one redrive", most <= 2, most);
    list.expect("workers were killed", killer.count() > 0, killer.count());
    list.figure(`${count} dead letters: ${first}, ${second}, then all; ${killer.count()} workers killed`);
  },
};

function killScheduler({ processes }: System): void {
  const victim = processes.running().find(({ name }) => name === "scheduler");
  if (victim !== undefined) process.kill(victim.pid, "SIGKILL");
}

/** Begins it as the API does; the schedulers go on with it. @returns it at its end. */
async function redriven(system: System, count: number, random: () => number) {
  const { insight } = system.runtime;
  const search = { kind: "mail", states: ["FAILED"] } as const;
  const matched = { count, isMore: false };
  const asked = { action: "retry", search, caller: "proof", matched, paceMs: 0, steps: [1, 10] } as const;
  const { id } = await beginBulk(insight, asked);
  let seen = "";
  return await until("the redrive to end", 240_000, async () => {
    const { rows } = await system.pool.query<{ id: string }>("select id::text from belfry.job where state = 'QUEUED'");
    await sendAgain(
      system,
      rows.flatMap((row) => (random() < 0.05 ? row.id : [])),
    );
    const [bulk] = await insight.run(readBulks, { id, limit: 1 });
    // Wherever it is by then: each move costs one scheduler.
    if (bulk !== undefined && bulk.updatedAt !== seen) killScheduler(system);
    seen = bulk?.updatedAt ?? seen;
    return bulk?.state === "RUNNING" ? null : bulk;
  });
}
