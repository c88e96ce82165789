import { sqsClient } from "../../../src/aws/sqs-client.ts";
import { type Chaos, type ChaosQueue, startChaosQueue } from "../chaos-queue.ts";
import { startFleet } from "../fleet.ts";
import { assessSuccess, judge } from "../judge.ts";
import { numbered } from "../load.ts";
import { type Checklist, type Proof, seeded } from "../proof.ts";
import { startInstalled, type System } from "../system.ts";
import type { Tables } from "../tables.ts";
import { letPass } from "../until.ts";

const chaos: Chaos = { duplicate: 0.5, lost: 0.05, refused: 0.05, late: 0.5, replyLost: 0.03 };
const jobs = 2_000;
const perCall = 20;
/** Between two calls of the client; of the machine's time. */
const pauseMs = 200;
/** After the steady flow: a few at once, and then nothing but what is late, which looks most like what is lost. */
const waves = 4;
const perWave = 60;
/** Of the system's time; longer than a message is late. */
const quietMs = 75_000;
const scaleDefault = 5;
const endMs = 300_000;

/** The queue does everything a queue may do to its messages. */
export const sqsChaos: Proof = {
  name: "sqs-chaos",
  about:
    "duplicates 50 %, reorder, 1-60 s late, 5 % lost, refused and unanswered sends (--scale, default 5): only the lost are rescued",
  guards: ["resend", "late", "refused"],
  async run(context, list) {
    const scale = context.scale ?? scaleDefault;
    let queue: ChaosQueue | null = null;
    const system = await startInstalled(context, {
      app: "chaos",
      scale,
      lane: () => ({ visibilityTimeoutSeconds: 120, functionTimeoutSeconds: 20, concurrency: 2 }),
      env: { BELFRY_LOG_LEVEL: "warn" },
      async inFrontOfSqs(target) {
        queue = await startChaosQueue(target, { chaos, scale, random: seeded(context.seed) });
        return queue;
      },
    });
    if (queue === null) throw new Error("the system did not ask for a queue");
    await run(list, system, queue, { scale, count: Math.round(jobs * context.size) });
  },
};

async function run(
  list: Checklist,
  system: System,
  queue: ChaosQueue,
  { scale, count }: { scale: number; count: number },
): Promise<void> {
  // Deletes go through the chaos too: what was not deleted comes again.
  const sqs = sqsClient({ region: "us-east-1", sqsEndpoint: queue.url, dynamodbEndpoint: null });
  const fleet = startFleet({ ...system, sqs }, {});
  try {
    const wakes = system.wakes({ everyMs: 0 });
    for (let n = 0; n < count; n += perCall) {
      await system.enqueue("calls", numbered(Math.min(perCall, count - n), n));
      await letPass(pauseMs);
    }
    for (let wave = 0; wave < waves; wave += 1) {
      await system.enqueue("calls", numbered(perWave, count + wave * perWave));
      await letPass(quietMs / scale);
    }
    await system.untilEnded(endMs);
    queue.calm();
    await wakes.stop();
  } finally {
    await fleet.stop();
    sqs.destroy();
  }
  assess(list, await judge(list, system), queue, count);
}

function assess(list: Checklist, tables: Tables, { sent, counts }: ChaosQueue, count: number): void {
  assessSuccess(list, tables.jobs);
  // A rescue gives the row the next generation: the one before it is the message that was given up.
  const rescued = tables.events
    .filter(({ reason }) => reason === "message-lost")
    .map(({ jobId, generation }) => `${jobId}/${generation - 1}`);
  const lost = [...sent].flatMap(([key, fate]) => (fate.lost > 0 && fate.delivered === 0 ? [key] : []));
  const wanted = new Set(lost);
  const found = new Set(rescued);
  list.expect("no message is rescued twice", found.size === rescued.length, rescued.length - found.size);
  list.expectNone(
    "only lost messages are rescued",
    rescued.filter((key) => !wanted.has(key)),
  );
  list.expectNone(
    "every lost message is rescued",
    lost.filter((key) => !found.has(key)),
  );
  list.expectNone(
    "no worker is thought dead",
    tables.events.filter(({ reason }) => reason === "lost").map(({ jobId }) => jobId),
  );
  const shares = [counts.duplicated, counts.lost, counts.refused, counts.late, counts.repliesLost];
  list.expect("there was every kind of chaos", count < 200 || shares.every((each) => each > 0), shares.join(" "));
  const messages = [...sent.values()].reduce((sum, { asked }) => sum + asked, 0);
  list.figure(
    `${tables.jobs.length} jobs, ${messages} messages: ${counts.duplicated} doubled, ${counts.late} late, ` +
      `${counts.refused} refused, ${counts.repliesLost} replies lost, ${lost.length} lost outright and ${found.size} rescued`,
  );
}
