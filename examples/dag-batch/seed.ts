import { databasePool } from "belfry/connect";
import type { Tx } from "belfry";
import { bookingsOf, graphs, shops } from "./input.ts";

const days = `
  select to_char((belfry.now() at time zone 'Asia/Seoul')::date + n, 'YYYY-MM-DD') as day from generate_series(-2, 60) as n`;

const bookings = `
  insert into dag_batch.booking (shop, day, n, kind, cents)
  select * from unnest($1::text[], $2::date[], $3::int[], $4::text[], $5::int[])
  on conflict (shop, day, n) do nothing`;

// A graph in the tables: one task, two thousand behind it, and one that waits for all of them.
const tableTasks = `
  insert into dag_batch.task (graph, version, name, seconds)
  select 'thousands', 1, name, 0 from (values ('begin'), ('end')) as edge (name)
  union all select 'thousands', 1, 'part-' || lpad(n::text, 4, '0'), 1 from generate_series(1, 2000) as n
  on conflict do nothing`;
const tableDeps = `
  insert into dag_batch.task_dep (graph, version, from_key, to_key)
  select 'thousands', 1, 'begin', 'part-' || lpad(n::text, 4, '0') from generate_series(1, 2000) as n
  union all select 'thousands', 1, 'part-' || lpad(n::text, 4, '0'), 'end' from generate_series(1, 2000) as n
  on conflict do nothing`;

/** Safe to run again. */
export async function seed(client: Tx): Promise<void> {
  await client.query("insert into dag_batch.shop select unnest($1::text[]) on conflict (id) do nothing", [shops]);
  await client.query("insert into dag_batch.workflow select unnest($1::text[]) on conflict (id) do nothing", [graphs]);
  const { rows } = await client.query<{ day: string }>(days);
  const lines = rows.flatMap(({ day }) =>
    shops.flatMap((shop) => bookingsOf(shop, day).map((line, n) => ({ shop, day, n, ...line }))),
  );
  const column = <K extends keyof (typeof lines)[number]>(name: K) => lines.map((line) => line[name]);
  await client.query(tableTasks);
  await client.query(tableDeps);
  await client.query(bookings, [column("shop"), column("day"), column("n"), column("kind"), column("cents")]);
}

if (import.meta.main) await seed(databasePool()());
