import { seats } from "../app/edges.ts";
import { judge } from "../judge.ts";
import { numbered } from "../load.ts";
import type { Proof } from "../proof.ts";
import { startInstalled } from "../system.ts";
import type { EventRow, JobRow } from "../tables.ts";
import { letPass } from "../until.ts";

const jobs = 600;
const atOnce = 3;
/** Arrivals of 1.7 times what the seats can do. */
const everyMs = 55;

/** More jobs arrive than a cap lets run: the one that is due first goes first. */
export const heldOrder: Proof = {
  name: "held-order",
  about: "a cap of 2 and 1.7 times its work: no newer job goes before one that is held, and each waits once",
  guards: ["first-held"],
  async run(context, list) {
    const system = await startInstalled(context, { app: "edges" });
    const work = system.work({ lanes: ["seated"], apart: true });
    const count = Math.round(jobs * context.size);
    for (let n = 0; n < count; n += atOnce) {
      await system.enqueue("seated", numbered(atOnce, n));
      // The rate at which they arrive.
      await letPass(everyMs);
    }
    await system.untilEnded(180_000);
    await work.stop();
    const tables = await judge(list, system, {
      caps: [{ key: "cap:seated", size: seats, kinds: ["seated"] }],
    });
    const stories = tables.jobs.map((job) => storyOf(job, tables.events));
    const held = stories.filter(({ holds }) => holds.length > 0);
    list.expect("more arrive than can run", held.length > count / 4, held.length);
    const overtaken = held.map((one) => stories.filter((other) => overtakes(other, one)).length);
    const most = Math.max(0, ...overtaken);
    // Two statements that run side by side do not see each other: one for each seat.
    list.expect("no held job is overtaken by newer ones", most <= seats, `one by ${most}`);
    const events = stories.map((story) => story.events);
    list.expect(
      "no job waits twice",
      held.every(({ holds }) => holds.length === 1),
      Math.max(...events),
    );
    list.figure(`${held.length} of ${stories.length} jobs were held, the most overtaken by ${most}`);
    list.figure(
      `events of a job: ${(events.reduce((sum, n) => sum + n, 0) / events.length).toFixed(2)}, at most ${Math.max(...events)}`,
    );
    const rows = await system.count("belfry.event");
    list.figure(`${(rows / stories.length).toFixed(2)} event rows for each job`);
  },
};

interface Story {
  readonly job: JobRow;
  readonly events: number;
  /** When it was held. */
  readonly holds: readonly number[];
  /** When it was given its seat: by the wake before its start, or by its start. */
  readonly grantedAt: number;
}

function storyOf(job: JobRow, all: readonly EventRow[]): Story {
  const events = all.filter(({ jobId }) => jobId === job.id);
  const holds = events.filter(({ to, reason }) => to === "PENDING" && reason === "slot").map(({ at }) => at);
  const grant =
    holds.length > 0 ? events.findLast(({ to }) => to === "QUEUED") : events.find(({ to }) => to === "RUNNING");
  return { job, events: events.length, holds, grantedAt: grant?.at ?? 0 };
}

const isNewer = (a: JobRow, b: JobRow): boolean =>
  a.dueAt > b.dueAt || (a.dueAt === b.dueAt && BigInt(a.id) > BigInt(b.id));

/** It is newer, and was given a seat while the other one was held. */
const overtakes = (one: Story, held: Story): boolean =>
  isNewer(one.job, held.job) && one.grantedAt > (held.holds[0] ?? 0) && one.grantedAt < held.grantedAt;
