/** The examples' views carry the names of the systems that they are made after: their tables, with their columns. */
import { readFileSync } from "node:fs";
import { createTestSystem, type TestSystem } from "belfry/testing";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import apps from "../../examples/index.ts";

let system: TestSystem;
beforeAll(async () => {
  system = await createTestSystem({ apps, stage: "examples", databaseUrl: inject("postgresUrl") });
});
afterAll(() => system[Symbol.asyncDispose]());

const tables: Readonly<Record<string, string>> = {
  "dag_batch.task_dep": "version from_key to_key",
  "dag_batch.batch_instance": "id dag_version biz_key status created_at updated_at",
  "dag_batch.outbox_evt":
    "id batch_id task_key pre_cnt status worker_id visible_at attempts payload created_at updated_at",
  "daily_quiz.quiz_notification_log": "id user_id quiz_data status retry_count created_at updated_at",
  "taskflow.jobs":
    "id job_key type payload status scheduled_at next_run_at attempt_count max_attempts worker_id version created_at updated_at",
  "taskflow.job_attempts": "id job_id attempt_no status worker_id error_code error_message started_at ended_at",
  "taskflow.job_events": "id job_id event_type payload published_at created_at",
  "time_capsule.time_capsule": "id user_id status created_at open_at",
  "time_capsule.notifications": "id user_id type title content related_id created_at",
  "time_capsule.email_log": "id email status error_message retry_count created_at",
};

const columnsOf = `
  select column_name as name from information_schema.columns where table_schema || '.' || table_name = $1`;

test.each(Object.entries(tables))("%s has its columns and can be read", async (table, list) => {
  const columns = list.split(" ");
  const { rows } = await system.database.query<{ name: string }>(columnsOf, [table]);
  const names = new Set(rows.map(({ name }) => name));
  expect(columns.filter((column) => !names.has(column))).toEqual([]);
  await expect(system.database.query(`select ${columns.join(", ")} from ${table}`)).resolves.toBeDefined();
});

/** What the guide says a team may read, as `TABLE.COLUMN`. */
function documentedColumns(): ReadonlySet<string> {
  const guide = readFileSync(new URL("../../docs/guides/postgres.md", import.meta.url), "utf8");
  const lines = [...guide.matchAll(/^\| `belfry\.(\w+)` \| (.+) \|$/gm)];
  return new Set(
    lines.flatMap(([, table, list = ""]) => [...list.matchAll(/`(\w+)`/g)].map(([, column]) => `${table}.${column}`)),
  );
}

const columnsOfBelfry = `
  select relname || '.' || attname as name from pg_attribute join pg_class on pg_class.oid = attrelid
  where relnamespace = 'belfry'::regnamespace and attnum > 0 and not attisdropped`;
const columnsOfViews = `
  select distinct read.relname || '.' || attname as name
  from pg_depend join pg_rewrite on pg_rewrite.oid = objid join pg_class as view on view.oid = ev_class
  join pg_class as read on read.oid = refobjid join pg_attribute on attrelid = read.oid and attnum = refobjsubid
  where classid = 'pg_rewrite'::regclass and read.relnamespace = 'belfry'::regnamespace and view.relnamespace <> 'belfry'::regnamespace`;

test("the views read only columns that the guide promises, and the guide promises only what is there", async () => {
  const namesOf = async (text: string): Promise<readonly string[]> =>
    (await system.database.query<{ name: string }>(text)).rows.map(({ name }) => name);
  const promised = documentedColumns();
  const used = await namesOf(columnsOfViews);
  expect(used.length).toBeGreaterThan(20);
  expect(used.filter((name) => !promised.has(name))).toEqual([]);
  const there = new Set(await namesOf(columnsOfBelfry));
  expect([...promised].filter((name) => !there.has(name))).toEqual([]);
});
