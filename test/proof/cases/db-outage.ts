import { join } from "node:path";
import { startPostgres } from "../../../src/local/services/postgres.ts";
import { assessOnce, beginGated, running } from "../gated.ts";
import { movedClock, movedClockSql } from "../moved-clock.ts";
import type { Proof } from "../proof.ts";
import { elapsedMs, letPass, until } from "../until.ts";

const handlers = 200;
const awaySeconds = [1, 10, 60];
const times = 3;
const settings = { max_connections: "200" };

/** Postgres is away while handlers end well: their outcomes are written when it is back. */
export const dbOutage: Proof = {
  name: "db-outage",
  about: "Postgres away for 1, 10 and 60 s while 200 handlers end, three times each: none runs again, none is charged",
  minutesMax: 14,
  guards: ["patient-settle"],
  async run(context, list) {
    const folder = join(context.folder, "postgres");
    let postgres = await startPostgres({ folder, port: 0, settings });
    try {
      const system = await beginGated({ ...context, postgresUrl: postgres.url });
      const wakes = system.wakes({ everyMs: 1_000 });
      const fleet = system.fleet();
      const rounds = Array.from({ length: Math.max(1, Math.round(times * context.size)) }, () => awaySeconds).flat();
      for (const [round, seconds] of rounds.entries()) {
        const batch = await running(system, join(context.folder, `gate-${round}`), Math.round(handlers * context.size));
        await postgres.stop("immediate");
        const goneMs = elapsedMs();
        batch.open();
        await until("all handlers to end", 60_000, () => batch.effects() >= batch.ids.length);
        await letPass(Math.max(0, seconds * 1_000 - (elapsedMs() - goneMs)));
        postgres = await startPostgres({ folder, port: postgres.port, settings });
        await assessOnce(list, system, batch, `away for ${seconds} s`);
        context.log(`round ${round + 1} of ${rounds.length}, away for ${seconds} s: done`);
      }
      await wakes.stop();
      await fleet.stop();
      list.figure(`${rounds.length} outages, ${Math.round(handlers * context.size)} handlers in each`);
      await system.stop();
    } finally {
      await postgres.stop("immediate");
    }
  },
};

/** The database's clock jumps ahead by more than every lease: live workers keep their jobs. */
export const clockAhead: Proof = {
  name: "clock-ahead",
  about: "the database's clock jumps a minute ahead while handlers run: none is taken from its live worker",
  guards: ["two-looks"],
  async run(context, list) {
    const system = await beginGated(context, movedClockSql);
    const wakes = system.wakes({ everyMs: 0 });
    const fleet = system.fleet();
    const batch = await running(system, join(context.folder, "gate"), Math.max(10, Math.round(50 * context.size)));
    for (let jump = 0; jump < 5; jump += 1) {
      await movedClock(system.pool).advance(60_000);
      await letPass(4_000);
    }
    batch.open();
    await assessOnce(list, system, batch, "a minute ahead, five times");
    await wakes.stop();
    await fleet.stop();
  },
};
