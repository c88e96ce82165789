import { join } from "node:path";
import { assessOnce, beginGated, openToEnd, running } from "../gated.ts";
import { movedClock, movedClockSql } from "../moved-clock.ts";
import { startOwnPostgres } from "../own-postgres.ts";
import type { Proof } from "../proof.ts";
import { elapsedMs, letPass } from "../until.ts";

const handlers = 200;
const awaySeconds = [1, 10, 60];
const times = 3;

/** Postgres is away while handlers end well: their outcomes are written when it is back. */
export const dbOutage: Proof = {
  name: "db-outage",
  about: "Postgres away for 1, 10 and 60 s while 200 handlers end, three times each: none runs again, none is charged",
  minutesMax: 14,
  guards: ["patient-settle"],
  async run(context, list) {
    const postgres = await startOwnPostgres(context);
    const system = await beginGated({ ...context, postgresUrl: postgres.url }, { endBeside: postgres.stop });
    const work = system.work({ everyMs: 1_000 });
    const rounds = Array.from({ length: Math.max(1, Math.round(times * context.size)) }, () => awaySeconds).flat();
    for (const [round, seconds] of rounds.entries()) {
      const batch = await running(system, join(context.folder, `gate-${round}`), Math.round(handlers * context.size));
      await postgres.away(async () => {
        const goneMs = elapsedMs();
        await openToEnd(batch);
        await letPass(Math.max(0, seconds * 1_000 - (elapsedMs() - goneMs)));
      });
      await assessOnce(list, system, batch, `away for ${seconds} s`);
      context.log(`round ${round + 1} of ${rounds.length}, away for ${seconds} s: done`);
    }
    await work.stop();
    list.figure(`${rounds.length} outages, ${Math.round(handlers * context.size)} handlers in each`);
  },
};

/** The database's clock jumps ahead by more than every lease: live workers keep their jobs. */
export const clockAhead: Proof = {
  name: "clock-ahead",
  about: "the database's clock jumps a minute ahead while handlers run: none is taken from its live worker",
  guards: ["two-looks"],
  async run(context, list) {
    const system = await beginGated(context, { sql: movedClockSql });
    const work = system.work();
    const batch = await running(system, join(context.folder, "gate"), Math.max(10, Math.round(50 * context.size)));
    for (let jump = 0; jump < 5; jump += 1) {
      await movedClock(system.pool).advance(60_000);
      await letPass(4_000);
    }
    batch.open();
    await assessOnce(list, system, batch, "a minute ahead, five times");
    await work.stop();
  },
};
