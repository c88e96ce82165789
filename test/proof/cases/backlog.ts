import { assessSuccess, judge } from "../judge.ts";
import { numbered } from "../load.ts";
import type { Proof } from "../proof.ts";
import { pass, type ProxiedCall } from "../proxy.ts";
import { startInstalled, type System } from "../system.ts";
import { elapsedMs, letPass } from "../until.ts";

const jobs = 50_000;
/** Of the system's time. A message is never presumed lost before two minutes. */
const waitMs = 5 * 60_000;
const scaleDefault = 5;
const twiceShareMax = 0.01;

/** Workers are gone for minutes while passes go on: a backlog is old, not lost. */
export const backlog: Proof = {
  name: "backlog",
  about: "50,000 queued behind stopped workers for 5 minutes (--scale, default 5): at most 1 % sent twice",
  guards: ["evidence"],
  async run(context, list) {
    const scale = context.scale ?? scaleDefault;
    const system = await startInstalled(context, {
      app: "backlog",
      scale,
      proxied: ["sqs"],
      lane: () => ({ visibilityTimeoutSeconds: 30, concurrency: 4 }),
      env: { BELFRY_LOG_LEVEL: "warn" },
    });
    const sends = countSends(system);
    const count = Math.round(jobs * context.size);
    // A first few run, so that the lane has claims to compare with; then the workers are gone.
    const first = system.fleet();
    await system.enqueue("empty", numbered(200, -200));
    await system.untilEnded(60_000);
    await first.stop();
    await system.enqueue("empty", numbered(count));
    const wakes = system.wakes({ everyMs: 0 });
    // The backlog stands behind stopped workers for this long.
    await letPass(waitMs / scale);
    const twiceWaiting = sends.twice();
    context.log(`${count} waited, ${twiceWaiting} messages sent twice`);
    const startedMs = elapsedMs();
    const fleet = system.fleet({ deadLetters: true });
    await system.untilEnded(540_000);
    const seconds = (elapsedMs() - startedMs) / 1_000;
    await wakes.stop();
    await fleet.stop();
    const tables = await judge(list, system);
    assessSuccess(list, tables.jobs, true);
    const twice = sends.twice();
    list.expect("every message was sent", sends.messages() >= count, sends.messages());
    list.expectAtMost("at most 1 % of the messages are sent twice", twice, twiceShareMax * count);
    list.figure(
      `${twice} of ${count} sent twice (${twiceWaiting} while waiting), worked off in ${seconds.toFixed(0)} s (${(count / seconds).toFixed(0)}/s)`,
    );
  },
};

/** Counts what really reaches the queue. */
function countSends(system: System): { messages(): number; twice(): number } {
  const sent = new Map<string, number>();
  let messages = 0;
  const note = ({ operation, body }: ProxiedCall): void => {
    if (operation !== "SendMessageBatch") return;
    const { Entries } = JSON.parse(body) as { Entries: readonly { MessageBody: string }[] };
    for (const { MessageBody } of Entries) {
      const { jobId } = JSON.parse(MessageBody) as { jobId: string };
      messages += 1;
      sent.set(jobId, (sent.get(jobId) ?? 0) + 1);
    }
  };
  system.proxies.sqs?.judge((call) => {
    note(call);
    return pass;
  });
  return {
    messages: () => messages,
    twice: () => [...sent.values()].reduce((sum, times) => sum + times - 1, 0),
  };
}
