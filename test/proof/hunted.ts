import type { EnqueueItem } from "../../src/machine/client.ts";
import type { Message } from "../../src/machine/outbox.ts";
import { encodeMessage } from "../../src/run/message.ts";
import { startChaosQueue } from "./chaos-queue.ts";
import type { FleetOptions } from "./fleet.ts";
import { ambiguousJobs, assessSuccess, type Extra, judge } from "./judge.ts";
import { type Killer, killNowAndThen } from "./killer.ts";
import { type Checklist, type ProofContext, seeded } from "./proof.ts";
import { LostTime } from "./put-back.ts";
import type { SchedulerProcess, Wakes } from "./scheduler-process.ts";
import { startSystem, type System, type SystemOptions } from "./system.ts";
import { readTables, type Tables } from "./tables.ts";
import { until } from "./until.ts";

interface Hunt extends Pick<SystemOptions, "app" | "env" | "sql" | "lane"> {
  /** Half of the messages are doubled and some late. */
  readonly chaos?: boolean;
  /** Left out: from `kill` on. */
  readonly killEveryMs?: number;
  /** Left out: no scheduler is killed, and the next pass begins when one has ended. */
  readonly schedulerEveryMs?: number;
  /** Starts the tasks of several schedulers, in place of one. */
  readonly schedulers?: (system: System) => readonly (() => SchedulerProcess)[];
  /** As of a fleet. */
  readonly envOf?: FleetOptions["envOf"];
  /** On a server of its own, so that a time can be lost. */
  readonly loses?: boolean;
  /** Done before the definitions are installed. */
  readonly before?: (system: System) => Promise<void>;
}

export interface Hunted {
  readonly system: System;
  readonly random: () => number;
  /** From now on a worker is killed every `everyMs`. */
  kill(everyMs: number): void;
  endKills(): void;
  /** How many processes were killed. */
  kills(): number;
  /** Does something while no scheduler runs. */
  away(during: () => Promise<void>): Promise<void>;
  /**
   * The database is put back to where it was before `during`, while workers, queues and the lock table go on. Clients make
   * the enqueues again that they made in the time that is lost.
   */
  lose(during: () => Promise<unknown>): Promise<void>;
  /** In calls of 1,000 jobs, with `sendSomeAgain` after each. @returns their ids */
  enqueue(kind: string, items: readonly EnqueueItem[], share?: number): Promise<readonly string[]>;
  /** Sends the messages of a share of these jobs once more, as a queue may. */
  sendSomeAgain(ids: readonly string[], share?: number): Promise<void>;
  /** Waits until all jobs have ended and all messages are sent. */
  untilEnded(withinMs?: number): Promise<void>;
  /** Waits for the end, stops the processes and judges the tables. */
  judged(list: Checklist, extra?: Extra): Promise<Tables>;
  /** The same, where each job succeeds. */
  succeeded(list: Checklist, extra?: Extra): Promise<Tables>;
  /** For the figure. */
  seen(): string;
}

const chaos = { duplicate: 0.5, lost: 0, refused: 0.05, late: 0.2, replyLost: 0.03 };

/** A system whose workers, and schedulers where it is asked, are killed now and then. */
export async function startHunted(context: ProofContext, options: Hunt): Promise<Hunted> {
  const { killEveryMs, schedulerEveryMs, schedulers, envOf, before, chaos: isChaotic, loses, ...of } = options;
  const random = seeded(context.seed);
  const lost = loses === true ? new LostTime(context.folder) : null;
  const ground = lost === null ? context : { ...context, postgresUrl: await lost.startOn("live") };
  const started = await startSystem(ground, {
    lane: () => ({ visibilityTimeoutSeconds: isChaotic === true ? 4 : 6 }),
    ...of,
    ...(isChaotic === true ? { inFrontOfSqs: (target) => startChaosQueue(target, { chaos, scale: 10, random }) } : {}),
    ...(lost === null ? {} : { endBeside: () => lost.stop() }),
  });
  const system = lost?.watched(started) ?? started;
  await before?.(system);
  await system.install();
  const fleet = system.fleet({ deadLetters: true, ...(envOf === undefined ? {} : { envOf }) });
  const starts = schedulers?.(system) ?? [() => system.scheduler()];
  const wake = (): readonly Wakes[] =>
    starts.map((start) => system.wakesOf(start, schedulers === undefined && schedulerEveryMs === undefined ? 0 : 500));
  let wakes = wake();
  const stopWakes = async (): Promise<void> => void (await Promise.all(wakes.map((each) => each.stop())));
  const killers: Killer[] = [];
  const killerOfSchedulers =
    schedulerEveryMs === undefined
      ? null
      : killNowAndThen(system, () => wakes.map((each) => each.current().pid), { everyMs: schedulerEveryMs, random });
  const kills = (): number => killers.reduce((sum, killer) => sum + killer.count(), 0);
  let duplicates = 0;
  const hunted: Hunted = {
    system,
    random,
    kill: (everyMs) => void killers.push(killNowAndThen(system, () => fleet.pids("default"), { everyMs, random })),
    endKills() {
      for (const killer of killers) killer.stop();
      killerOfSchedulers?.stop();
    },
    kills,
    async away(during) {
      await stopWakes();
      await during();
      wakes = wake();
    },
    async lose(during) {
      if (lost === null) throw new Error("a case that loses a time says so: loses");
      await lost.pass(hunted, during);
    },
    async enqueue(kind, items, share) {
      const all: string[] = [];
      for (let from = 0; from < items.length; from += 1_000) {
        const ids = (await system.enqueue(kind, items.slice(from, from + 1_000))).map(({ id }) => id);
        if (share !== 0) await hunted.sendSomeAgain(ids, share);
        all.push(...ids);
      }
      return all;
    },
    async sendSomeAgain(ids, share = 0.02) {
      duplicates += await sendAgain(
        system,
        ids.filter(() => random() < share),
      );
    },
    async untilEnded(withinMs = 300_000) {
      const open = async (): Promise<number> => (await system.openJobs()) + (await system.count("belfry.outbox"));
      await until("all jobs to end", withinMs, async () => (await open()) === 0);
    },
    async judged(list, extra = {}) {
      await hunted.untilEnded(400_000);
      hunted.endKills();
      await stopWakes();
      await fleet.stop();
      const { open = [], ...judgedLost } = (await lost?.judged(list, system)) ?? {};
      const died = ambiguousJobs(await readTables(system.pool), system.processes.killed());
      list.expect("processes were killed", kills() > 0, kills());
      return await judge(list, system, { ambiguous: new Set([...died, ...open]), ...judgedLost, ...extra });
    },
    async succeeded(list, extra) {
      const tables = await hunted.judged(list, extra);
      assessSuccess(list, tables.jobs);
      return tables;
    },
    seen: () =>
      `${duplicates === 0 ? "" : `${duplicates} messages sent twice, `}${kills()} processes killed${lost?.seen() ?? ""}`,
  };
  if (killEveryMs !== undefined) hunted.kill(killEveryMs);
  return hunted;
}

/** The same messages once more, as a queue that delivers at least once may. */
async function sendAgain(system: System, ids: readonly string[]): Promise<number> {
  const url = system.queues.find(({ lane }) => lane.name === "default")?.url;
  const rows = await system.rows<Message>(
    `select id::text as "jobId", generation, trace from belfry.job where id = any($1)`,
    [ids],
  );
  for (let from = 0; from < rows.length; from += 10) {
    const entries = rows
      .slice(from, from + 10)
      .map((row, index) => ({ Id: String(index), MessageBody: encodeMessage(row) }));
    await system.sqs.call("SendMessageBatch", { QueueUrl: url, Entries: entries });
  }
  return rows.length;
}
