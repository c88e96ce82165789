/** One side of a comparison: runs a case of the commit in `root` on a server that both sides share. Started by `compare.ts`. */
import { existsSync } from "node:fs";
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import pg from "pg";
import { type Adapter, createDatabase, type Database, type Ground } from "../ground.ts";
import type { Figure } from "../measure.ts";
import { walBytes } from "../peers/ring.ts";
import type { FromSide, SideOptions } from "./messages.ts";
import { startMeter } from "./meter.ts";

type Closing = { close(): Promise<void> };
type AdapterOf = Omit<Adapter<Closing>, "openConnections"> & {
  readonly openConnections?: Adapter<Closing>["openConnections"];
  /** Its name until b8a9fb1. */
  readonly connect?: Adapter<Closing>["openConnections"];
};

const { root, name, server, prefix, withRoof } = JSON.parse(process.argv[2] ?? "") as SideOptions;
const from = pathToFileURL(`${root}/`);
useMeterFor(new URL("bench/measure.ts", from).href);

const databases: Database[] = [];
const admin = new pg.Client({ connectionString: server });
await admin.connect();
const series = startMeter({ cpuUs, walBytes: () => walBytes(admin) }, withRoof);
const adapter = await adapterOf();
const { [name]: run } = (await import(new URL(`bench/cases/${name}.ts`, from).href)) as Record<
  string,
  (ground: Ground, options: { minutes: number }) => Promise<readonly Figure[]>
>;
if (run === undefined) throw new Error(`there is no bench "${name}" at ${root}`);
await run(ground(), { minutes: 1 });
for (const database of databases) await database.close();
const report = { series, heapOnly: await heapOnly() };
await admin.end();
process.send?.({ report } satisfies FromSide, () => process.disconnect());

/** The cases import their measure by a relative path, so that only the loader can give them another one. */
function useMeterFor(measure: string): void {
  const meter = new URL("meter.ts", import.meta.url).href;
  registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      return resolved.url === measure ? { ...resolved, url: meter } : resolved;
    },
  });
}

async function adapterOf(): Promise<Adapter<Closing>> {
  // Before the rooms it stood in src/adapters.
  const places = ["src/postgres/index.ts", "src/adapters/postgres/index.ts"].map((path) => new URL(path, from));
  const module = (await import((places.find((place) => existsSync(place)) ?? from).href)) as AdapterOf;
  const openConnections = module.openConnections ?? module.connect;
  if (openConnections === undefined) throw new Error(`the adapter at ${root} opens no connections`);
  return { migrate: module.migrate, createPostgresStore: module.createPostgresStore, openConnections };
}

function ground(): Ground {
  return {
    async database({ settings = [] } = {}) {
      const database = await createDatabase(server, { name: `${prefix}_${databases.length}`, settings, adapter });
      databases.push(database);
      return database;
    },
    sqs: () => Promise.reject(new Error("a case that needs SQS is not compared")),
    close: async () => {},
  };
}

async function cpuUs(of: "stores" | "roof"): Promise<number> {
  const used = await Promise.all(databases.map((database) => database.cpuUs(of)));
  return used.reduce((sum, each) => sum + each, 0);
}

/** A backend writes its statistics when it ends: they are read once all have. */
async function heapOnly(): Promise<number> {
  const counts = { updated: 0, heapOnly: 0 };
  for (const { url } of databases) {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const others =
      "select from pg_stat_activity where datname = current_database() and backend_type = 'client backend'";
    for (let open = true; open;) {
      const { rowCount } = await client.query(`${others} and pid <> pg_backend_pid()`);
      open = rowCount !== 0;
    }
    const { rows } = await client.query<{ updated: string; hot: string }>(
      "select n_tup_upd as updated, n_tup_hot_upd as hot from pg_stat_user_tables where relid = 'belfry.job'::regclass",
    );
    counts.updated += Number(rows[0]?.updated);
    counts.heapOnly += Number(rows[0]?.hot);
    await client.end();
  }
  return counts.updated === 0 ? 0 : counts.heapOnly / counts.updated;
}
