import { readdirSync } from "node:fs";
import type { Pool } from "pg";
import type { TestDatabase } from "../support/database.ts";

/** Rows that one step wrote, and the pages that only this took. */
export interface Write {
  readonly table: string;
  readonly rows: number;
  readonly pages: number;
}

/** What Postgres did for one execution of one of our statements. */
export interface Plan {
  readonly name: string;
  /** Pages touched by the whole statement. */
  readonly buffers: number;
  readonly milliseconds: number;
  /** Rows that its steps brought or dropped, all loops together: what a plan for the wrong number of rows multiplies. */
  readonly rows: number;
  /** Those of them that it read from tables. */
  readonly read: number;
  /** Rows it answered with. */
  readonly answered: number;
  /** Tables that were read from end to end and had hundreds of rows. */
  readonly scanned: readonly string[];
  /** The pages by the table they belong to; partitions count as their table. */
  readonly pages: ReadonlyMap<string, number>;
  /** How often each index was descended, at least: once a loop, whatever the number of keys. */
  readonly descents: ReadonlyMap<string, number>;
  readonly writes: readonly Write[];
}

interface Node {
  readonly "Node Type": string;
  readonly "Parent Relationship"?: string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Actual Rows"?: number;
  readonly "Actual Loops"?: number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Join Filter"?: number;
  readonly "Shared Hit Blocks"?: number;
  readonly "Shared Read Blocks"?: number;
  readonly Plans?: readonly Node[];
}

/**
 * Lets the server explain every statement of these connections while it runs, with the values it really had.
 * Needs a superuser, which the test server's user is.
 */
export async function watchPlans({
  pool,
  connections,
}: Pick<TestDatabase, "pool" | "connections">): Promise<{ readonly plans: Plan[] }> {
  await pool.query(`
    do $$ begin
      execute format('alter database %I set session_preload_libraries = auto_explain', current_database());
      execute format('alter database %I set auto_explain.log_min_duration = 0', current_database());
      execute format('alter database %I set auto_explain.log_analyze = on', current_database());
      execute format('alter database %I set auto_explain.log_buffers = on', current_database());
      execute format('alter database %I set auto_explain.log_timing = off', current_database());
      execute format('alter database %I set auto_explain.log_format = json', current_database());
      execute format('alter database %I set auto_explain.log_level = notice', current_database());
    end $$`);
  const plans: Plan[] = [];
  for (const each of [connections.main, connections.tx]) watch(each, plans);
  return { plans };
}

function watch(pool: Pool, plans: Plan[]): void {
  pool.on("connect", (client) => {
    client.on("notice", (notice) => {
      const plan = planOf(notice.message ?? "");
      if (plan !== null) plans.push(plan);
    });
  });
}

function planOf(message: string): Plan | null {
  const json = /plan:\n([\s\S]*)$/.exec(message)?.[1];
  if (json === undefined) return null;
  const { "Query Text": text, Plan: root } = JSON.parse(json) as { "Query Text": string; Plan: Node };
  const name = /^\/\* belfry:([a-z-]+) \*\//.exec(text)?.[1];
  if (name === undefined) return null;
  const milliseconds = Number(/duration: ([\d.]+) ms/.exec(message)?.[1] ?? 0);
  const pages = new Map<string, number>();
  addPages(root, pages);
  const descents = new Map<string, number>();
  addDescents(root, descents);
  const answered = root["Actual Rows"] ?? 0;
  return {
    name,
    buffers: buffersOf(root),
    milliseconds,
    rows: rowsOf(root),
    read: rowsOf(root, isScan),
    answered,
    scanned: [...new Set(scans(root))],
    pages,
    descents,
    writes: writesOf(root),
  };
}

const buffersOf = (node: Node): number => (node["Shared Hit Blocks"] ?? 0) + (node["Shared Read Blocks"] ?? 0);

/** A node's pages are those of its children too; a bitmap's index has no table of its own. */
function addPages(node: Node, pages: Map<string, number>): void {
  const table = tableOf(node);
  const below = (node.Plans ?? []).filter((each) => !each["Node Type"].startsWith("Bitmap"));
  const own = buffersOf(node) - below.reduce((sum, each) => sum + buffersOf(each), 0);
  if (table !== undefined) pages.set(table, (pages.get(table) ?? 0) + own);
  for (const each of node.Plans ?? []) addPages(each, pages);
}

const tableOf = (node: Node): string | undefined => node["Relation Name"]?.replace(/_(\d{8}|rest)$/, "");

function writesOf(node: Node): Write[] {
  const below = (node.Plans ?? []).flatMap(writesOf);
  const input = node.Plans?.find((each) => each["Parent Relationship"] === "Outer");
  if (node["Node Type"] !== "ModifyTable" || input === undefined) return below;
  const rows = (input["Actual Rows"] ?? 0) * (input["Actual Loops"] ?? 1);
  return [...below, { table: tableOf(node) ?? "", rows, pages: Math.max(0, buffersOf(node) - buffersOf(input)) }];
}

function addDescents(node: Node, descents: Map<string, number>): void {
  const index = node["Index Name"];
  if (index !== undefined) descents.set(index, (descents.get(index) ?? 0) + (node["Actual Loops"] ?? 0));
  for (const each of node.Plans ?? []) addDescents(each, descents);
}

const isScan = (node: Node): boolean => node["Relation Name"] !== undefined && node["Node Type"] !== "ModifyTable";

function rowsOf(node: Node, isCounted: (node: Node) => boolean = () => true): number {
  const removed = (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Join Filter"] ?? 0);
  const here = ((node["Actual Rows"] ?? 0) + removed) * (node["Actual Loops"] ?? 1);
  return (node.Plans ?? []).reduce((sum, each) => sum + rowsOf(each, isCounted), isCounted(node) ? here : 0);
}

const manyRows = 300;

function scans(node: Node): string[] {
  const rows = (node["Actual Rows"] ?? 0) + (node["Rows Removed by Filter"] ?? 0);
  const here = node["Node Type"] === "Seq Scan" && rows >= manyRows ? [node["Relation Name"] ?? "?"] : [];
  return [...here, ...(node.Plans ?? []).flatMap(scans)];
}

/** The names of all statements in the folder of SQL texts. */
export async function statementNames(): Promise<readonly string[]> {
  const names: string[] = [];
  for (const folder of ["postgres/sql/", "insight/"].map((path) => new URL(`../../src/${path}`, import.meta.url))) {
    for (const file of readdirSync(folder)) {
      const exported = Object.values((await import(new URL(file, folder).href)) as Record<string, unknown>);
      for (const value of exported) if (isStatement(value)) names.push(value.name);
    }
  }
  return names.toSorted();
}

const isStatement = (value: unknown): value is { name: string; text: string } =>
  typeof value === "object" && value !== null && "name" in value && "text" in value;

/** Statements that no verb of the store runs: the migration runner's, a deployment's, the test clock's, and what only a fault brings. */
const elsewhere = new Set([
  "begin",
  "transaction-status",
  "fence-end-idle",
  // Only more keys with held jobs, or more open runs, than one pass looks at.
  "pass-place",
  // Reads no table: for more jobs in one transaction than a statement takes.
  "order-keys",
  "server",
]);

/** Whether the tours leave it out. */
export const isElsewhere = (name: string): boolean =>
  elsewhere.has(name) ||
  name.startsWith("migration-") ||
  name.startsWith("access-") ||
  name.startsWith("test-clock") ||
  // Only in a stage that is one of several cells.
  name.startsWith("cell-") ||
  // Once, after a restore or a move.
  name.startsWith("epoch-") ||
  name.startsWith("partition-");
