import pg from "pg";
import type { Pool, PoolClient } from "pg";
import { keepPlans, keptPlanSettings } from "../../../src/postgres/statement.ts";
import type { SimProcess } from "../process.ts";
import { Unfit } from "./faults.ts";
import type { Gate } from "./gate.ts";

type Query = string | { readonly name?: string; readonly text: string; readonly values?: readonly unknown[] };

export interface PoolOptions {
  readonly url: string;
  readonly gate: Gate;
  /** Brings the database's clock to the virtual time. */
  setClock(): Promise<void>;
  /** Ends this backend, and with it its transaction. */
  terminate(pid: number): Promise<void>;
  /** The text that is sent in place of this one. */
  readonly plant: (text: string) => string;
  /** A statement of its own is committed in a second step, so that another one can start in between. */
  readonly commitsApart?: boolean;
}

interface Backend {
  readonly client: pg.Client;
  readonly pid: number;
}

/** The connections of all processes of a run. A process that dies loses its transactions, as when its sockets close. */
export class SimPool {
  readonly #options: PoolOptions;
  readonly #free: Backend[] = [];
  readonly #all = new Set<pg.Client>();

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** The pools that a process opens: for short statements, and for handlers. */
  of(process: Pick<SimProcess, "died">): { main: Pool; tx: Pool } {
    const connect = (keeps: boolean) => () => this.#connect(process, keeps);
    return { main: { connect: connect(true) } as Pool, tx: { connect: connect(false) } as Pool };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all].map((client) => client.end().catch(() => {})));
  }

  async #connect(process: Pick<SimProcess, "died">, keeps: boolean): Promise<PoolClient> {
    const { gate, terminate } = this.#options;
    const backend = this.#free.shift() ?? (await gate.perform(null, () => this.#open()));
    let isOpen = true;
    let inTransaction = false;
    const drop = (): void => {
      if (!isOpen) return;
      isOpen = false;
      this.#all.delete(backend.client);
      void gate.perform(null, () => terminate(backend.pid));
    };
    const onDeath = (): void => {
      if (inTransaction) drop();
    };
    process.died.addEventListener("abort", onDeath, { once: true });
    const client = {
      query: (query: Query, values?: readonly unknown[]) => {
        const text = typeof query === "string" ? query : query.text;
        if (text.startsWith("/* belfry:begin")) inTransaction = true;
        const send = inTransaction ? this.#send.bind(this) : this.#statement.bind(this);
        return send(backend, query, values).finally(() => {
          if (text === "commit" || text === "rollback") inTransaction = false;
        });
      },
      release: (broken?: boolean) => {
        process.died.removeEventListener("abort", onDeath);
        if (broken === true || inTransaction) drop();
        else if (isOpen) this.#free.push(backend);
        isOpen = false;
      },
      end: async () => drop(),
      getTransactionStatus: () => (inTransaction ? "T" : "I"),
    } as unknown as PoolClient;
    if (keeps) keepPlans(client);
    return client;
  }

  async #statement(backend: Backend, query: Query, values: readonly unknown[] | undefined): Promise<unknown> {
    if (this.#options.commitsApart !== true) return await this.#send(backend, query, values);
    await this.#send(backend, "begin", undefined);
    try {
      const result = await this.#send(backend, query, values);
      await this.#send(backend, "commit", undefined);
      return result;
    } catch (error) {
      await this.#send(backend, "rollback", undefined);
      throw error;
    }
  }

  async #send(backend: Backend, query: Query, values: readonly unknown[] | undefined): Promise<unknown> {
    const { gate, setClock, plant } = this.#options;
    return await gate.perform(backend.pid, async () => {
      await setClock();
      try {
        return await sent(backend.client, query, values, plant);
      } catch (error) {
        if (error instanceof Unfit || (error instanceof pg.DatabaseError && error.code?.startsWith("42") === true)) {
          gate.refuse(error);
        }
        throw error;
      }
    });
  }

  async #open(): Promise<Backend> {
    const client = new pg.Client({ connectionString: this.#options.url, options: keptPlanSettings });
    client.on("error", () => {});
    await client.connect();
    this.#all.add(client);
    const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
    return { client, pid: rows[0]?.pid ?? 0 };
  }
}

const sent = (
  client: pg.Client,
  query: Query,
  values: readonly unknown[] | undefined,
  plant: (text: string) => string,
): Promise<unknown> =>
  typeof query === "string"
    ? client.query(plant(query), values as unknown[])
    : client.query({ ...query, text: plant(query.text) } as pg.QueryConfig);
