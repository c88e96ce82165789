import { Pool } from "pg";
import { type TestStore, testStore } from "../support/looks.ts";
import { Gate } from "../sim/sql/gate.ts";
import { SimPool } from "../sim/sql/pool.ts";

export interface TwoConnections {
  readonly stores: readonly [TestStore, TestStore];
  readonly gate: Gate;
  /** Which statement starts next from now on, when both wait to start. */
  choose(choices: readonly number[]): void;
  close(): Promise<void>;
}

/** Two stores on one database. Their statements start one at a time, and each statement's commit is a step apart from it. */
export function openTwo(url: string, plant: (text: string) => string): TwoConnections {
  const own = new Pool({ connectionString: url, max: 1 });
  let choices: readonly number[] = [];
  let at = 0;
  const gate = new Gate({
    choose(count) {
      at += 1;
      return (choices[at % Math.max(1, choices.length)] ?? 0) % Math.max(1, count);
    },
    async waiting(pids) {
      const text = "select pid from pg_locks where not granted and pid = any($1)";
      const { rows } = await own.query<{ pid: number }>(text, [pids]);
      return new Set(rows.map((row) => row.pid));
    },
  });
  const pool = new SimPool({
    url,
    gate,
    plant,
    commitsApart: true,
    setClock: async () => {},
    terminate: async (pid) => void (await own.query("select pg_terminate_backend($1, 10000)", [pid])),
  });
  const open = (): TestStore =>
    testStore({
      ...pool.of({ died: new AbortController().signal }),
      where: "the model",
      close: async () => {},
    });
  return {
    stores: [open(), open()],
    gate,
    choose(next) {
      choices = next;
      at = 0;
    },
    async close() {
      await pool.close();
      await own.end();
    },
  };
}
