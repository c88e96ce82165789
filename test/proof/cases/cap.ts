import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { assessSuccess, judge } from "../judge.ts";
import { killOne } from "../killer.ts";
import type { LedgerRecord } from "../ledger.ts";
import { capSize } from "../points.ts";
import { type Proof, seeded } from "../proof.ts";
import { startInstalled } from "../system.ts";
import { elapsedMs, until } from "../until.ts";

const jobs = 10_000;
const workers = 12;
const kills = 3;

/** Twelve workers, ten thousand jobs, seven at once. */
export const cap: Proof = {
  name: "cap",
  about: "12 workers, 10,000 jobs, a cap of 7, three workers killed: never 8 at once, no slot leaked",
  guards: ["cap"],
  async run(context, list) {
    const random = seeded(context.seed);
    const system = await startInstalled(context, {
      app: "cap",
      lane: () => ({ visibilityTimeoutSeconds: 6, concurrency: workers }),
    });
    const count = Math.round(jobs * context.size);
    const { fleet, stop } = system.work({ deadLetters: true, apart: true });
    const startedMs = elapsedMs();
    const gate = join(context.folder, "gate");
    const items = Array.from({ length: count }, (_, n) => ({ payload: { n, gate } }));
    await system.enqueue("capped", items);
    // However slow the machine is, so many run at once; and every worker is there to be the eighth.
    await until("the cap to be full", 180_000, () => atOnce(system.ledger.read()).most >= capSize);
    await until("every worker to be there", 180_000, () => fleet.started("default").length >= workers);
    writeFileSync(gate, "");
    let killed = 0;
    await until("all jobs to end", 580_000, async () => {
      const open = await system.openJobs();
      const done = count - open;
      if (killed < kills && done > ((killed + 1) * count) / (kills + 1))
        killed += await killOne(system, fleet.pids(), random);
      return open === 0;
    });
    const seconds = (elapsedMs() - startedMs) / 1_000;
    await stop();
    const caps = [{ key: "cap:capped", size: capSize, kinds: ["capped"] }];
    const tables = await judge(list, system, { caps });
    assessSuccess(list, tables.jobs);
    const { most, share } = atOnce(system.ledger.read());
    list.expectAtMost(`never more than ${capSize} at once, as the target saw it`, most, capSize);
    list.expect("workers were killed", killed > 0, killed);
    list.expect(
      "every slot is there and free",
      tables.slots.length === capSize && tables.slots.every((slot) => slot.jobId === null),
      tables.slots.length,
    );
    list.figure(
      `${count} jobs in ${seconds.toFixed(0)} s (${(count / seconds).toFixed(0)}/s), ${most} at once at most, ${(100 * share).toFixed(0)} % of the time full, ${killed} workers killed`,
    );
  },
};

/** How many ran at once: a try runs from its start to its stop, or to the death of its process. */
function atOnce(records: readonly LedgerRecord[]): { most: number; share: number } {
  const running = new Map<string, number>();
  const dead = new Set<number>();
  let most = 0;
  let fullMs = 0;
  let last: LedgerRecord | undefined;
  for (const record of records) {
    if (last !== undefined && running.size >= capSize) fullMs += record.at - last.at;
    last = record;
    const key = `${record.job}/${record.attempt}`;
    // What was on its way when its process was stopped to be killed.
    if (record.what === "start" && !dead.has(record.pid)) running.set(key, record.pid);
    if (record.what === "stop") running.delete(key);
    if (record.what === "killed") dead.add(record.pid);
    for (const [each, pid] of running) if (dead.has(pid)) running.delete(each);
    most = Math.max(most, running.size);
  }
  const spanMs = (records.at(-1)?.at ?? 0) - (records[0]?.at ?? 0);
  return { most, share: spanMs === 0 ? 0 : fullMs / spanMs };
}
