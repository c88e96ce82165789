import type { JobId } from "../../src/machine/job.ts";
import type { Store } from "../../src/machine/store.ts";
import type { Evidence } from "../invariants/evidence.ts";
import type { Record } from "./record.ts";
import type { SimProcess } from "./process.ts";
import type { VirtualTime } from "../support/virtual-clock.ts";

/** Shorter than in real life, so that runs of a minute see rows on both sides of it. */
export const dispatchWindowMs = 15_000;

/** What a server's tables show: the part of the evidence that no process remembers. */
export interface TableFacts extends Pick<
  Evidence,
  "transactional" | "objectives" | "jobs" | "events" | "attempts" | "slots" | "openBatches" | "occurrences" | "runs"
> {
  /** Up to which instant each schedule has decided its times. */
  readonly decidedUntil: ReadonlyMap<string, number>;
}

/** What a release found in the tables of a schedule. */
export interface ScheduleFound {
  /** From when on its newest version is in force. */
  readonly fromAt: number;
  /** Nominal times after that which were decided already. */
  readonly decided: readonly number[];
}

/** Where the rows are: in memory, or in a real Postgres. */
export interface SimServer {
  /** The store as this process reaches it. */
  storeOf(process: SimProcess): Store;
  /** Resolves when nothing is under way but what waits for virtual time. */
  settled(): Promise<void>;
  /** Whether everything that was asked for before `before` has ended in the tables. */
  isAtRest(before: number): Promise<boolean>;
  newestJobs(limit: number): Promise<readonly JobId[]>;
  scheduleFound(id: string): Promise<ScheduleFound>;
  facts(): Promise<TableFacts>;
  close(): Promise<void>;
}

/** Opens the server of one run. `now` is the clock of its database. */
export type OpenServer = (now: () => number, time: VirtualTime) => Promise<SimServer>;

type Install = Store["installSchedules"];

/** Writes down from when on which period is in force: what a release found decided stays. */
export function noteEras(server: Pick<SimServer, "scheduleFound">, record: Record, install: Install): Install {
  return async (specs, options) => {
    await install(specs, options);
    for (const spec of specs) {
      if (spec.expression.form === "after") continue;
      const everyMs = spec.expression.form === "every" ? spec.expression.everyMs : 60_000;
      const eras = record.eras.get(spec.id) ?? [];
      if (eras.at(-1)?.everyMs === everyMs) continue;
      // An edit ends the version before it at once, also one that has not decided everything yet.
      const { fromAt, decided } = await server.scheduleFound(spec.id);
      eras.push({ from: fromAt, everyMs, kept: decided });
      record.eras.set(spec.id, eras);
    }
  };
}
