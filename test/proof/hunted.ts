import { startChaosQueue } from "./chaos-queue.ts";
import type { FleetOptions } from "./fleet.ts";
import { ambiguousJobs } from "./judge.ts";
import { killNowAndThen } from "./killer.ts";
import { type Checklist, type ProofContext, seeded } from "./proof.ts";
import { startSystem, type System } from "./system.ts";
import { readTables } from "./tables.ts";

interface Hunt {
  /** A file in `test/proof/app`. */
  readonly app: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly killEveryMs: number;
  readonly schedulerEveryMs: number;
  /** As of a fleet. */
  readonly envOf?: FleetOptions["envOf"];
}

interface Hunted {
  readonly system: System;
  endKills(): void;
  /** Stops the processes. @returns the jobs of which a killed process may have done more than it wrote. */
  stop(): Promise<ReturnType<typeof ambiguousJobs>>;
  /** Checks that there were kills. @returns how many workers. */
  kills(list: Checklist): number;
}

const chaos = { duplicate: 0.5, lost: 0, refused: 0.05, late: 0.2, replyLost: 0.03 };

/** A system with half of its messages doubled and some late, whose workers and scheduler are killed now and then. */
export async function startHunted(context: ProofContext, options: Hunt): Promise<Hunted> {
  const random = seeded(context.seed);
  const system = await startSystem(context, {
    app: options.app,
    lane: () => ({ visibilityTimeoutSeconds: 4 }),
    ...(options.env === undefined ? {} : { env: options.env }),
    inFrontOfSqs: (target) => startChaosQueue(target, { chaos, scale: 10, random }),
  });
  await system.install();
  const fleet = system.fleet({ deadLetters: true, ...(options.envOf === undefined ? {} : { envOf: options.envOf }) });
  const wakes = system.wakes({ everyMs: 500 });
  const killer = killNowAndThen(system, () => fleet.pids("default"), { everyMs: options.killEveryMs, random });
  const ofScheduler = setInterval(() => wakes.current().signal("SIGKILL"), options.schedulerEveryMs);
  return {
    system,
    endKills() {
      killer.stop();
      clearInterval(ofScheduler);
    },
    async stop() {
      await wakes.stop();
      await fleet.stop();
      return ambiguousJobs(await readTables(system.pool), system.processes.killed());
    },
    kills(list) {
      list.expect("processes were killed", killer.count() > 0, killer.count());
      return killer.count();
    },
  };
}
