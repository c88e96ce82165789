import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beginBulk, readBulks } from "../../../src/insight/bulk.ts";
import { type Hunted, startHunted } from "../hunted.ts";
import { numbered } from "../load.ts";
import type { Proof } from "../proof.ts";
import type { System } from "../system.ts";
import { until } from "../until.ts";

const jobs = 400;
const workers = 4;

/** Dead letters that fail again, and then succeed: redriven in steps while workers and schedulers die. */
export const canaryProof: Proof = {
  name: "canary",
  about: `${jobs} dead letters, redriven by 1, 10 and all, 5 % of the messages twice, random kill -9 of workers and schedulers: stops after 1 while they fail, then each runs once, in steps`,
  guards: ["steps"],
  async run(context, list) {
    const down = join(context.folder, "down");
    const hunted = await startHunted(context, {
      app: "budget",
      lane: () => ({ visibilityTimeoutSeconds: 4, concurrency: workers }),
    });
    const { system } = hunted;
    writeFileSync(down, "");
    const count = Math.round(jobs * context.size);
    await system.enqueue("mail", numbered(count, 0, { down }));
    await hunted.untilEnded();
    hunted.kill(2_000);
    const stopped = await redriven(hunted, count);
    list.expect(
      "it stops after one that fails again",
      stopped?.state === "STOPPED" && stopped.changed === 1,
      stopped?.changed ?? -1,
    );
    const again = await system.count("belfry.history where reason = 'retry' and from_state = 'FAILED'");
    list.expectIs("nothing else was retried", again, 1);
    rmSync(down);
    const done = await redriven(hunted, count);
    list.expect("it goes on when they succeed", done?.state === "DONE", done?.state ?? "none");
    await hunted.succeeded(list);
    const { first, second, most } = await system.row<{ first: number; second: number; most: number | null }>(`
      with retried as (select job_id, at, row_number() over (partition by job_id order by id desc) as n from belfry.history
        where reason = 'retry' and from_state = 'FAILED'),
      last as (select r.at, j.finished_at from retried r join belfry.job j on j.id = r.job_id where r.n = 1),
      ends as (select finished_at, row_number() over (order by finished_at) as n from belfry.job)
      select (select count(*)::int from last where at < (select finished_at from ends where n = 1)) as first,
        (select count(*)::int from last where at < (select finished_at from ends where n = 10)) as second,
        (select max(n)::int from retried) as most`);
    list.expectIs("one was retried before the first success", first, 1);
    list.expectAtMost("eleven were retried before the tenth success", second, 11);
    list.expect("no job was retried twice by one redrive", most !== null && most <= 2, `${most}`);
    list.figure(`${count} dead letters: ${first}, ${second}, then all; ${hunted.seen()}`);
  },
};

function killScheduler({ processes }: System): void {
  const victim = processes.running().find(({ name }) => name === "scheduler");
  if (victim !== undefined) process.kill(victim.pid, "SIGKILL");
}

/** Begins it as the API does; the schedulers go on with it. @returns it at its end. */
async function redriven({ system, sendSomeAgain }: Hunted, count: number) {
  const { insight } = system.runtime;
  const search = { kind: "mail", states: ["FAILED"] } as const;
  const matched = { count, isMore: false };
  const asked = { action: "retry", search, caller: "proof", matched, paceMs: 0, steps: [1, 10] } as const;
  const { id } = await beginBulk(insight, asked);
  let seen = "";
  return await until("the redrive to end", 240_000, async () => {
    const queued = await system.rows<{ id: string }>("select id::text from belfry.job where state = 'QUEUED'");
    await sendSomeAgain(
      queued.map(({ id: job }) => job),
      0.05,
    );
    const [bulk] = await insight.run(readBulks, { id, limit: 1 });
    // Wherever it is by then: each move costs one scheduler.
    if (bulk !== undefined && bulk.updatedAt !== seen) killScheduler(system);
    seen = bulk?.updatedAt ?? seen;
    return bulk?.state === "RUNNING" ? null : bulk;
  });
}
