import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Batch, assessOnce, beginGated, gated, openToEnd, running } from "../gated.ts";
import { startOwnPostgres } from "../own-postgres.ts";
import type { Checklist, Proof } from "../proof.ts";
import { pass } from "../proxy.ts";
import type { System } from "../system.ts";
import { elapsedMs, letPass, until } from "../until.ts";

const handlers = 60;
const awayMs = 10_000;
/** As long as a lease, and as the time after which a statement is given up. */
const frozenMs = 20_000;

/** What happens to Postgres in one night; its address stays. */
interface Night {
  readonly system: System;
  readonly list: Checklist;
  readonly count: number;
  away(ms: number): Promise<void>;
  freeze(ms: number): Promise<void>;
  gate(name: string): string;
}

/** Faults of the database that come together. */
export const failovers: Proof = {
  name: "failovers",
  about:
    "two outages in a row, one while claims wait for a lock, Postgres frozen for 20 s, without a lock store: none runs again",
  guards: ["patient-settle"],
  async run(context, list) {
    const postgres = await startOwnPostgres(context);
    const system = await beginGated({ ...context, postgresUrl: postgres.url }, { endBeside: postgres.stop });
    const work = system.work({ everyMs: 1_000 });
    const night: Night = {
      system,
      list,
      count: Math.max(10, Math.round(handlers * context.size)),
      gate: (name) => join(context.folder, `gate-${name}`),
      // The length of the outage.
      away: (ms) => postgres.away(() => letPass(ms)),
      freeze: (ms) => frozen(postgres.pid(), ms),
    };
    for (const [name, fault] of Object.entries(faults)) {
      const startedMs = elapsedMs();
      await fault(night, name);
      context.log(`${name}: done in ${Math.round((elapsedMs() - startedMs) / 1_000)} s`);
    }
    await work.stop();
    list.expectNone("no process but a scheduler ended", diedOf(system));
    list.figure(`${Object.keys(faults).length} nights, ${night.count} handlers in each`);
  },
};

const faults: Readonly<Record<string, (night: Night, name: string) => Promise<void>>> = {
  "twice in a row": async (night, name) => {
    const batch = await running(night.system, night.gate(name), night.count);
    const over = night.away(awayMs);
    await openToEnd(batch);
    await over;
    // Long enough for some outcomes, not for all.
    await letPass(300);
    await night.away(awayMs);
    await assessOnce(night.list, night.system, batch, name);
  },
  "while claims wait for a lock": async (night, name) => {
    const { system, list } = night;
    const batch = await gated(system, night.gate(name), night.count, { delay: "4s" });
    await locked(system, batch, async () => {
      await waiting(system);
      await night.away(awayMs);
    });
    batch.open();
    await assessOnce(list, system, batch, name);
  },
  "while outcomes wait for a lock": async (night, name) => {
    const { system, list } = night;
    const batch = await running(system, night.gate(name), night.count);
    await locked(system, batch, async () => {
      await openToEnd(batch);
      await waiting(system);
      await night.away(awayMs);
    });
    await assessOnce(list, system, batch, name);
  },
  frozen: async (night, name) => {
    const batch = await running(night.system, night.gate(name), night.count);
    const over = night.freeze(frozenMs);
    await openToEnd(batch);
    await over;
    await assessOnce(night.list, night.system, batch, name);
  },
  "frozen, then away, without a lock store": async (night, name) => {
    const batch = await running(night.system, night.gate(name), night.count);
    night.system.proxies.dynamodb?.judge(() => ({ do: "hang" }));
    const over = night.freeze(frozenMs);
    await openToEnd(batch);
    await over;
    await night.away(awayMs);
    await assessOnce(night.list, night.system, batch, name);
    night.system.proxies.dynamodb?.judge(() => pass);
  },
};

/** A person's transaction holds the rows of the batch. The outage ends its connection too. */
async function locked(system: System, batch: Batch, during: () => Promise<void>): Promise<void> {
  const holder = await system.pool.connect();
  holder.on("error", () => {});
  try {
    await holder.query("begin");
    await holder.query("select from belfry.job where id = any($1) for update", [batch.ids]);
    await during();
  } finally {
    holder.release(true);
  }
}

const waiting = (system: System) =>
  until("a statement to wait for a lock", 30_000, async () => {
    return (await system.count("pg_stat_activity where wait_event_type = 'Lock'")) > 0;
  });

/** Stops the server with all its processes, as a machine whose disk hangs: connections stay open, and nothing answers. */
async function frozen(postmaster: number, ms: number): Promise<void> {
  const stopped = new Set<number>();
  const stop = (pid: number): void => {
    process.kill(pid, "SIGSTOP");
    stopped.add(pid);
  };
  stop(postmaster);
  for (const pid of childrenOf(postmaster)) stop(pid);
  // The length of the fault.
  await letPass(ms);
  for (const pid of stopped) process.kill(pid, "SIGCONT");
}

function childrenOf(parent: number): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return Number(/\) \w (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1]) === parent;
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** A scheduler that finds no database says so with 1; one that is stopped while its process starts hears no SIGTERM yet. */
const diedOf = ({ processes }: System): readonly string[] =>
  processes.oddEnds(({ name, code, signal }) => name === "scheduler" && (code === 1 || signal === "SIGTERM"));
