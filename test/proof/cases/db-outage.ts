import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startPostgres } from "../../../src/local/services/postgres.ts";
import { movedClock, movedClockSql } from "../moved-clock.ts";
import { Checklist, type Proof } from "../proof.ts";
import { startSystem, type System } from "../system.ts";
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
  async run(context) {
    const list = new Checklist();
    const folder = join(context.folder, "postgres");
    let postgres = await startPostgres({ folder, port: 0, settings });
    try {
      const system = await begin(context.folder, postgres.url);
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
        await assess(list, system, batch, `away for ${seconds} s`);
        context.log(`round ${round + 1} of ${rounds.length}, away for ${seconds} s: done`);
      }
      await wakes.stop();
      await fleet.stop();
      list.figure(`${rounds.length} outages, ${Math.round(handlers * context.size)} handlers in each`);
      await system.stop();
    } finally {
      await postgres.stop("immediate");
    }
    return list.verdict();
  },
};

/** The database's clock jumps ahead by more than every lease: live workers keep their jobs. */
export const clockAhead: Proof = {
  name: "clock-ahead",
  about: "the database's clock jumps a minute ahead while handlers run: none is taken from its live worker",
  guards: ["two-looks"],
  async run(context) {
    const list = new Checklist();
    const system = await begin(context.folder, context.postgresUrl, movedClockSql);
    const wakes = system.wakes({ everyMs: 0 });
    const fleet = system.fleet();
    const batch = await running(system, join(context.folder, "gate"), Math.max(10, Math.round(50 * context.size)));
    for (let jump = 0; jump < 5; jump += 1) {
      await movedClock(system.pool).advance(60_000);
      await letPass(4_000);
    }
    batch.open();
    await assess(list, system, batch, "a minute ahead, five times");
    await wakes.stop();
    await fleet.stop();
    await system.stop();
    return list.verdict();
  },
};

async function begin(folder: string, postgresUrl: string, sql = ""): Promise<System> {
  const system = await startSystem({
    app: "edges",
    folder: join(folder, "system"),
    postgresUrl,
    sql,
  });
  await system.install();
  return system;
}

interface Batch {
  readonly ids: readonly string[];
  /** Lets the handlers end. */
  open(): void;
  effects(): number;
}

async function running(system: System, gate: string, count: number): Promise<Batch> {
  const items = Array.from({ length: count }, () => ({ payload: { gate } }));
  const ids = (await system.enqueue("gated", items)).map(({ id }) => String(id));
  const known = new Set(ids);
  await until(`${count} handlers to run`, 240_000, async () => {
    const { rows } = await system.pool.query<{ n: number }>(
      "select count(*)::int as n from belfry.job where id = any($1) and state = 'RUNNING'",
      [ids],
    );
    return rows[0]?.n === count;
  });
  const effects = (): number =>
    system.ledger.read().filter(({ what, job }) => what === "effect" && known.has(job)).length;
  return { ids, open: () => writeFileSync(gate, ""), effects };
}

async function assess(list: Checklist, system: System, batch: Batch, what: string): Promise<void> {
  const read = async () =>
    (
      await system.pool.query<{ id: string; state: string; attempt: number; failures: number; interruptions: number }>(
        "select id, state, attempt, failures, interruptions from belfry.job where id = any($1) order by id",
        [batch.ids],
      )
    ).rows;
  await until(
    "all jobs to end",
    120_000,
    async () =>
      (await read().catch(() => [])).filter(({ state }) => /^(SUCCESS|FAILED)$/.test(state)).length ===
      batch.ids.length,
  );
  const rows = await read();
  const named = (all: typeof rows): string[] =>
    all.map(({ id, state, attempt }) => `${id} ${state}, attempt ${attempt}`);
  list.expectNone(`${what}: 0 FAILED`, named(rows.filter(({ state }) => state !== "SUCCESS")));
  list.expectNone(`${what}: 0 attempts charged`, named(rows.filter((row) => row.failures + row.interruptions > 0)));
  list.expectNone(`${what}: 0 taken again`, named(rows.filter(({ attempt }) => attempt !== 1)));
  list.expect(`${what}: each handler ended once`, batch.effects() === batch.ids.length, batch.effects());
}
