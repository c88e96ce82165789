import type { Pool } from "pg";
import { z } from "zod";
import { defineApp } from "../../src/define/define-app.ts";
import { defineGraph } from "../../src/define/define-graph.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { createArchiveSource } from "../../src/postgres/archive-source.ts";
import { archiveTour } from "../../test/postgres/archive-tour.ts";
import { operationsTour } from "../../test/postgres/operations-tour.ts";
import { isElsewhere, type Plan, statementNames } from "../../test/postgres/plans.ts";
import { tour } from "../../test/postgres/tour.ts";
import { apiOn } from "../api-app.ts";
import type { Ground } from "../ground.ts";
import { compare, type Cost, costOf, type Levels, type Line, quietest, together, worst } from "./compare.ts";
import { fill, units, writePastDay } from "./fill.ts";
import { placeholders, type Asked, requests, screens } from "./requests.ts";
import { openWorld, type World } from "./world.ts";

const rounds = 3;

const nameOf = ({ method, path }: Asked): string => `${method} ${path}`;
const readsMax = new Map(
  Object.values(requests)
    .flat()
    .map((each) => [nameOf(each), each.readsMax]),
);

/** The costs of one size: of each statement by its calls, of each request by its name; each in every round. */
interface Costs {
  readonly statements: ReadonlyMap<string, readonly (readonly Cost[])[]>;
  readonly requests: ReadonlyMap<string, readonly Cost[]>;
  readonly levels: Levels;
}

/** Every statement, route and screen beside N and beside 10 N of what is kept. */
export async function growth(ground: Ground, size = units): Promise<readonly Line[]> {
  const few = await measured(ground, size.few);
  const many = await measured(ground, size.many);
  const levels = { few: few.levels, many: many.levels };
  const routes = [...few.requests.keys()].map((name) => {
    const [a, b] = [costAt(few, [name]), costAt(many, [name])];
    return compare(["route", name], a, b, { levels, readsMax: readsMax.get(name) });
  });
  const shown = Object.entries(screens).map(([name, paths]) => {
    const names = paths.map((path) => `GET ${path}`);
    return compare(["screen", name], costAt(few, names), costAt(many, names), { levels });
  });
  const statements = [...few.statements].map(([name, calls]) =>
    worst(name, calls, many.statements.get(name) ?? [], { levels }),
  );
  return [...statements.toSorted((a, b) => a.name.localeCompare(b.name)), ...routes, ...shown];
}

function costAt({ requests: known }: Costs, names: readonly string[]): Cost {
  const costs = names.map((name) => {
    const rounded = known.get(name);
    if (rounded === undefined) throw new Error(`no request is called "${name}"`);
    return quietest(rounded);
  });
  return together(costs);
}

async function measured(ground: Ground, count: number): Promise<Costs> {
  const database = await ground.database();
  const world = await openWorld(database);
  try {
    const startedMs = performance.now();
    await fill(database.pool, count);
    process.stderr.write(`${count} units written in ${seconds(startedMs)} s\n`);
    const statements = new Map<string, Cost[][]>();
    const answered = new Map<string, Cost[]>();
    for (let round = 0; round < rounds; round += 1) {
      const roundMs = performance.now();
      addCalls(statements, await tourOf(world, { round, count }));
      for (const [name, cost] of await requestsOf(world, round))
        answered.set(name, [...(answered.get(name) ?? []), cost]);
      process.stderr.write(`round ${round + 1} took ${seconds(roundMs)} s\n`);
    }
    const missing = (await statementNames()).filter((name) => !isElsewhere(name) && !statements.has(name));
    if (missing.length > 0) throw new Error(`no tour runs ${missing.join(", ")}`);
    return { statements, requests: answered, levels: await levelsOf(database.pool) };
  } finally {
    await world.close();
  }
}

async function levelsOf(pool: Pool): Promise<Levels> {
  await pool.query("create extension if not exists pageinspect");
  const { rows } = await pool.query<{ name: string; level: number }>(`
    with index as (
      select c.relname, i.indrelid, (bt_metap(c.oid::regclass::text)).level::int as level
      from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am m on m.oid = c.relam
      where c.relkind = 'i' and m.amname = 'btree' and c.relnamespace = 'belfry'::regnamespace
    )
    select relname as name, level from index
    union all
    select name, max(pages)::int from (
      select regexp_replace(c.relname, '_(\\d{8}|rest)$', '') as name, sum(level + 1) as pages
      from index join pg_class c on c.oid = indrelid group by c.relname
    ) of_table group by name`);
  return new Map(rows.map(({ name, level }) => [name, level]));
}

const seconds = (fromMs: number): string => ((performance.now() - fromMs) / 1_000).toFixed(1);

async function tourOf(world: World, { round, count }: { round: number; count: number }): Promise<readonly Plan[]> {
  // The tour's own runs stand behind many windows of kept ones; of held keys each round looks at the first window.
  await world.database.pool.query(`
    insert into belfry.pass_place (step, behind) select 'resolve', max(id)::text from belfry.run union all select 'wake', ''
    on conflict (step) do update set behind = excluded.behind`);
  world.plans.length = 0;
  await tour(world.store, world.clock, `round-${round}`);
  // An index still has the rows that the tour ended: how many pages they lie on is no matter of what is kept.
  await world.database.pool.query("vacuum (index_cleanup on) belfry.job");
  await operationsTour(world.connections);
  await archiveTour(world.connections);
  await writePastDay(world.database.pool, count);
  const source = createArchiveSource(world.connections);
  for (const part of ["events", "history"] as const) await source.next(part);
  return [...world.plans];
}

/** Appends a round's cost to each call of each statement, by its place among the calls of that statement. */
function addCalls(statements: Map<string, Cost[][]>, plans: readonly Plan[]): void {
  for (const [name, ofName] of Map.groupBy(plans, (plan) => plan.name)) {
    const calls = statements.get(name) ?? [];
    for (const [place, plan] of ofName.entries()) (calls[place] ??= []).push(costOf([plan]));
    statements.set(name, calls);
  }
}

const steps = defineGraph({
  id: "kept",
  version: 1,
  input: z.any(),
  tasks(task) {
    task("t1", { run: () => Promise.resolve(null) });
  },
});
const limits = { concurrency: 10, batchSize: 10, functionTimeoutSeconds: 900, memoryMb: 512 };
const lanes = ["default", "mail"].map((name) => ({ name, ...limits }));
const app = defineApp({
  name: "kept",
  jobs: [defineJob({ id: "kept-1", run() {} }), defineJob({ id: "capped", concurrency: 2, run() {} }), steps],
});

/** Each request once, with the statements it caused. @throws Error when one is refused. */
async function requestsOf(world: World, round: number): Promise<ReadonlyMap<string, Cost>> {
  const values = await placeholders(world.database.pool, round);
  const api = apiOn({ store: world.store, insight: world.insight, app, lanes });
  const refused: string[] = [];
  const costs = new Map<string, Cost>();
  // The clock of a search stands: how many looks 50 or 100 ms leave it is the machine's load.
  const [now, startedMs] = [performance.now, performance.now()];
  performance.now = () => startedMs;
  try {
    for (const each of Object.values(requests).flat()) {
      world.plans.length = 0;
      const refusal = await answer(api, each, values);
      if (refusal !== null) refused.push(refusal);
      await bulksEnd(world);
      const name = nameOf(each);
      costs.set(costs.has(name) ? `${name} again` : name, costOf(world.plans));
    }
  } finally {
    performance.now = now;
  }
  if (refused.length > 0) throw new Error(`a refusal costs too little:\n${refused.join("\n")}`);
  return costs;
}

/** A bulk action goes on after its answer, and its statements are its own. */
async function bulksEnd({ database }: World): Promise<void> {
  for (let open = 1; open > 0;) {
    const { rows } = await database.pool.query<{ open: number }>(
      "select count(*)::int as open from belfry.bulk where state = 'RUNNING'",
    );
    open = rows[0]?.open ?? 0;
  }
}

async function answer(
  api: ReturnType<typeof apiOn>,
  { method, path, body }: Asked,
  values: ReadonlyMap<string, string>,
): Promise<string | null> {
  const url = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values.get(name);
    if (value === undefined) throw new Error(`${path}: no row stands for {${name}}`);
    return encodeURIComponent(value);
  });
  const text = body === undefined ? null : JSON.stringify(body).replaceAll("{round}", values.get("round") ?? "");
  const headers = { host: "127.0.0.1:4400", "content-type": "application/json" };
  const reply = await api.fetch(new Request(`http://127.0.0.1:4400${url}`, { method, headers, body: text }));
  const said = await reply.text();
  return reply.status < 300 ? null : `${method} ${url} answered ${reply.status}: ${said.slice(0, 300)}`;
}
