import type { Client, Pool, PoolClient } from "pg";
import type { TestDatabase } from "../support/database.ts";

/** Tables whose rows statements lock, each with the columns of its key: the order in which rows have to be locked. */
const keys = {
  schedule: "id",
  run: "id",
  job: "id",
  slot: "key, n",
  slot_group: "key",
  occurrence: "schedule_id, local_time, fold, timezone",
  outbox: "id",
  lease: "id",
  fallback_lock: "name",
  lock_fence: "name",
  circuit: "name",
  turn: "lane, key",
  debounce: "kind, key",
} as const;
type Table = keyof typeof keys;
const tables = Object.keys(keys) as Table[];

/** What a statement does at a row that another session holds. */
type Conduct = "waits" | "waits in order" | "passes by";

export interface Locking {
  /** Reads that lock, in its plan. */
  reads: number;
  readonly at: Map<Table, Conduct>;
  /** Its text with one lock clause or one `skip locked` left out: whether the two above tell. */
  readonly faults: Map<string, boolean>;
}

/** Executions of one statement that are looked at: with rows to lock, and at all. */
const looksMax = { locking: 4, all: 8 };

/**
 * Lets three other sessions try every statement just before these connections run it, with the values it really has: one
 * holds a row, one runs the statement, one looks what that has locked. All three roll back.
 */
export function watchLocks(
  { connections }: Pick<TestDatabase, "connections">,
  sessions: Record<"holder" | "runner" | "looker", Client>,
): ReadonlyMap<string, Locking> {
  const seen = new Map<string, Locking>();
  const looks = new Map<string, { locking: number; all: number }>();
  const look = async (text: string, values: readonly unknown[]): Promise<void> => {
    const name = /^\/\* belfry:([a-z-]+) \*\//.exec(text)?.[1];
    if (name === undefined || name.startsWith("begin")) return;
    const known = looks.get(name) ?? { locking: 0, all: 0 };
    looks.set(name, known);
    if (known.locking >= looksMax.locking || known.all >= looksMax.all) return;
    known.all += 1;
    const trial = new Trial(sessions, text, values);
    const reads = await trial.lockingReads();
    const locked = await trial.lockedRows();
    if (reads === null || locked === null) return;
    const locking = seen.get(name) ?? { reads: 0, at: new Map<Table, Conduct>(), faults: new Map<string, boolean>() };
    seen.set(name, locking);
    locking.reads = Math.max(locking.reads, reads);
    if (locked.size > 0) known.locking += 1;
    const passedBy = new Map<Table, readonly string[]>();
    for (const [table, rows] of locked) {
      const conduct = await trial.conductAt(table, rows);
      if (conduct === "passes by") passedBy.set(table, rows);
      // What was seen at several rows says more than what was seen at one.
      if (conduct !== null && !(locking.at.has(table) && rows.length === 1)) locking.at.set(table, conduct);
    }
    for (const [clause, without] of withoutClauses(text)) {
      if (locking.faults.get(clause) === true) continue;
      locking.faults.set(clause, await new Trial(sessions, without, values).differs({ reads, passedBy }));
    }
  };
  for (const pool of [connections.main, connections.tx]) watch(pool, look);
  return seen;
}

type Query = string | { readonly text: string; readonly values?: readonly unknown[] };

function watch(pool: Pool, look: (text: string, values: readonly unknown[]) => Promise<void>): void {
  pool.on("connect", (client: PoolClient) => {
    const send = client.query.bind(client) as (query: Query, values?: readonly unknown[]) => Promise<unknown>;
    const watched = async (query: Query, values: readonly unknown[] = []): Promise<unknown> => {
      await (typeof query === "string" ? look(query, values) : look(query.text, query.values ?? []));
      return await (typeof query === "string" ? send(query, values) : send(query));
    };
    Object.assign(client, { query: watched });
  });
}

/** One statement with its values, tried beside what runs. */
class Trial {
  readonly #sessions: Record<"holder" | "runner" | "looker", Client>;
  readonly #text: string;
  readonly #values: unknown[];

  constructor(sessions: Record<"holder" | "runner" | "looker", Client>, text: string, values: readonly unknown[]) {
    this.#sessions = sessions;
    this.#text = text;
    this.#values = [...values];
  }

  /** Null for a text that cannot be explained: several statements in one. */
  async lockingReads(): Promise<number | null> {
    try {
      const { rows } = await this.#sessions.looker.query<{ "QUERY PLAN": readonly { Plan: Node }[] }>(
        `explain (format json) ${this.#text}`,
        this.#values,
      );
      return lockRows(rows[0]?.["QUERY PLAN"][0]?.Plan);
    } catch {
      return null;
    }
  }

  /** The rows it locks, in the order of their keys. Null when it fails, or waits for what runs beside. */
  async lockedRows(): Promise<ReadonlyMap<Table, readonly string[]> | null> {
    const { runner } = this.#sessions;
    await runner.query("begin; set local lock_timeout = '200ms'");
    try {
      const found = new Map<Table, readonly string[]>();
      const before = await this.#held();
      await runner.query(this.#text, this.#values);
      for (const [table, rows] of await this.#held()) {
        const others = new Set(before.get(table));
        const own = rows.filter((row) => !others.has(row));
        if (own.length > 0) found.set(table, own);
      }
      return found;
    } catch {
      return null;
    } finally {
      await runner.query("rollback");
    }
  }

  /** Whether it locks in another number of reads, or waits where the whole text passes by. */
  async differs(whole: { reads: number; passedBy: ReadonlyMap<Table, readonly string[]> }): Promise<boolean> {
    if ((await this.lockingReads()) !== whole.reads) return true;
    for (const [table, rows] of whole.passedBy) if ((await this.conductAt(table, rows)) !== "passes by") return true;
    return false;
  }

  /** Holds its last row, then its first. */
  async conductAt(table: Table, rows: readonly string[]): Promise<Conduct | null> {
    const last = await this.#heldBack(table, rows, rows.at(-1) ?? "");
    if (last === null || last === "passes by") return last;
    if (rows.length === 1) return "waits";
    const first = await this.#heldBack(table, rows, rows[0] ?? "");
    if (first === null || first === "passes by") return first;
    return last.length === rows.length - 1 && first.length === 0 ? "waits in order" : "waits";
  }

  /** With this row held by another session: the rows it has locked when it waits, or that it does not. */
  async #heldBack(table: Table, rows: readonly string[], row: string): Promise<readonly string[] | "passes by" | null> {
    const { holder, runner } = this.#sessions;
    await holder.query("begin");
    const { rowCount } = await holder.query(`select from belfry.${table} where ctid = $1::tid for update skip locked`, [
      row,
    ]);
    await runner.query("begin; set local lock_timeout = '10s'");
    try {
      if (rowCount !== 1) return null;
      const run = { isDone: false };
      const done = runner.query(this.#text, this.#values).then(
        () => void (run.isDone = true),
        () => void (run.isDone = true),
      );
      while (!run.isDone && !(await this.#isWaiting()))
        await Promise.race([done, new Promise((next) => setImmediate(next))]);
      if (run.isDone) return "passes by";
      const held = (await this.#held()).get(table) ?? [];
      await holder.query("rollback");
      await done;
      return held.filter((each) => each !== row && rows.includes(each));
    } finally {
      await holder.query("rollback");
      await runner.query("rollback");
    }
  }

  async #isWaiting(): Promise<boolean> {
    const { looker, runner } = this.#sessions;
    const { processID } = runner as unknown as { processID: number };
    const { rows } = await looker.query("select from pg_locks where not granted and pid = $1", [processID]);
    return rows.length > 0;
  }

  /** Rows that some session holds now, by their place, in the order of their keys. */
  async #held(): Promise<ReadonlyMap<Table, readonly string[]>> {
    const { rows } = await this.#sessions.looker.query<{ table: Table; places: string[] }>({
      name: "held",
      text: held,
    });
    return new Map(rows.map(({ table, places }) => [table, places]));
  }
}

/** One statement for all tables: a round trip each was most of the time. */
const held = `
  with ${tables.map((table) => `free_${table} as materialized (select ctid from belfry.${table} for no key update skip locked)`).join(", ")}
  ${tables
    .map(
      (table) => `select '${table}' as table, array(select ctid::text from belfry.${table}
        where ctid not in (select ctid from free_${table}) order by ${keys[table]}) as places`,
    )
    .join(" union all ")}`;

/** The text without each of its lock clauses, and without each `skip locked`, by what was left out. */
function withoutClauses(text: string): ReadonlyMap<string, string> {
  const faults = new Map<string, string>();
  const clause = /\bfor (?:no key )?update(?: of \w+)?( skip locked)?/g;
  for (const [n, { index, 0: whole, 1: skip }] of [...text.matchAll(clause)].entries()) {
    const end = index + whole.length;
    faults.set(`${n + 1}: ${whole}`, text.slice(0, index) + text.slice(end));
    if (skip !== undefined) faults.set(`${n + 1}:${skip}`, text.slice(0, end - skip.length) + text.slice(end));
  }
  return faults;
}

interface Node {
  readonly "Node Type": string;
  readonly Plans?: readonly Node[];
}

const lockRows = (node: Node | undefined): number =>
  node === undefined
    ? 0
    : Number(node["Node Type"] === "LockRows") + (node.Plans ?? []).reduce((sum, each) => sum + lockRows(each), 0);
