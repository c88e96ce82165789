import { assessSuccess, judge } from "../judge.ts";
import type { Proof } from "../proof.ts";
import { pass, type Proxy } from "../proxy.ts";
import { startInstalled } from "../system.ts";
import { elapsedMs, until } from "../until.ts";

const subscribers = 10_000;
const callMs = 300;
const sentShareMax = 1.05;
const endMs = 480_000;

/** A page of a fan-out takes longer to send than a batch may stay open, while two workers and the scheduler look for open ones. */
export const messageStorm: Proof = {
  name: "message-storm",
  about: "a queue of 300 ms a call, a fan-out of 10,000, two workers and a scheduler: 1.05 messages a job at most",
  guards: ["kept"],
  async run(context, list) {
    const count = Math.round(subscribers * context.size);
    const system = await startInstalled(context, {
      app: "storm",
      sql: `create schema proof; create table proof.subscriber as select n::int as id from generate_series(1, ${count}) n;
        create unique index on proof.subscriber (id);`,
      proxied: ["sqs"],
      lane: () => ({ visibilityTimeoutSeconds: 3_600, functionTimeoutSeconds: 600 }),
    });
    const sent = countSends(system.proxies.sqs);
    const startedMs = elapsedMs();
    const work = system.work();
    await system.enqueue("tell", [{ payload: undefined, key: "once" }]);
    await until("all jobs to end", endMs, async () => {
      return (await system.count("belfry.run where sealed")) === 1 && (await system.openJobs()) === 0;
    });
    const seconds = (elapsedMs() - startedMs) / 1_000;
    await work.stop();
    const { jobs } = await judge(list, system);
    list.expectIs("every target has its job", jobs.length, count + 1);
    assessSuccess(list, jobs, true);
    list.expect("every message was sent", sent() >= jobs.length, sent());
    list.expectAtMost(`at most ${sentShareMax} messages a job`, sent(), sentShareMax * jobs.length);
    list.figure(
      `${jobs.length} jobs, ${sent()} messages (${(sent() / jobs.length).toFixed(3)} a job) in ${seconds.toFixed(0)} s`,
    );
  },
};

/** Counts the messages that senders ask the queue to take, and answers each of their calls late. */
function countSends(proxy: Proxy | undefined): () => number {
  let messages = 0;
  proxy?.judge(({ operation, body }) => {
    if (operation !== "SendMessageBatch") return pass;
    const { Entries } = JSON.parse(body) as { Entries: readonly unknown[] };
    messages += Entries.length;
    return { do: "pass", afterMs: callMs };
  });
  return () => messages;
}
