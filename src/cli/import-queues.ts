/** Reads the jobs that wait in the tables of another queue, and its schedules. Nothing there is changed. */
import { createHash } from "node:crypto";
import type { ClientBase } from "pg";
import { collector, idCharactersMax, slugOf, type Imported, type ImportedJob } from "./import-schedules.ts";

/** What waits of one kind, or cannot move. */
export interface ForeignGroup {
  /** Of the job here. */
  readonly kind: string;
  readonly count: number;
  readonly firstDueAt: string;
}

/** A job to write. Its key names the original, so that it is written once. */
export interface ForeignJob {
  readonly kind: string;
  readonly key: string;
  readonly payload: unknown;
  readonly dueAt: string;
}

export interface ImportedQueue extends Imported {
  readonly waiting: readonly ForeignGroup[];
  /** In the order of their ids. */
  pages(): AsyncGenerator<readonly ForeignJob[]>;
}

interface Source {
  readonly name: string;
  /** A row for each name and reason: `name`, `why` (null: it can move), `count`, `due`, `notes`. */
  readonly groups: string;
  /** `id`, `name`, `payload`, `due` of those that can move. $1 the id after which they come $2 rows */
  readonly page: string;
  readonly firstId: string;
  /** Options of the job of a name, as TypeScript. */
  options(name: string): ImportedJob["options"];
  /** Adds its schedules. @param jobOf the id of the job of a name */
  schedules(all: ReturnType<typeof collector>, jobOf: (name: string) => string): void;
}

const pageRows = 500;
const canBeId = /^[a-z][a-z0-9]*(?:[-._][a-z0-9]+)*$/;

/** Of a name alone: what waits beside it at a later run must not move a job to the handler of another queue. */
function jobIdOf(name: string): string {
  if (name.length <= idCharactersMax && canBeId.test(name)) return name;
  const end = `-${createHash("sha256").update(name).digest("hex").slice(0, 6)}`;
  return `${slugOf(name, idCharactersMax - end.length)}${end}`;
}

/** Infinity and times that no `Date` has are none. */
const isTime = (column: string): string => `(${column} between '0001-01-01Z' and '9999-12-31Z')`;
const noTime = "is due at infinity or outside of the years 1 to 9999: give it a time there";

interface GroupRow {
  readonly name: string;
  readonly why: string | null;
  readonly count: number;
  readonly due: Date;
  readonly notes: readonly string[];
}

async function importQueue(client: ClientBase, source: Source): Promise<ImportedQueue> {
  const jobs: ImportedJob[] = [];
  const all = collector(jobs);
  const jobOf = (name: string, notes: readonly string[] = []): string => {
    const id = jobIdOf(name);
    const known = jobs.find((job) => job.id === id);
    if (known !== undefined && known.was !== name)
      throw new RangeError(`${known.was} and ${name} are both ${id} here: rename one`);
    if (known !== undefined) return id;
    jobs.push({ id, was: name, options: { payload: "z.unknown()", ...source.options(name) }, notes });
    return id;
  };
  const { rows } = await client.query<GroupRow>(source.groups);
  const waiting: ForeignGroup[] = [];
  for (const { name, why, count, due, notes } of rows) {
    if (why === null) waiting.push({ kind: jobOf(name, notes), count, firstDueAt: due.toISOString() });
    else all.refuse(`${count} of ${name}`, why);
  }
  source.schedules(all, jobOf);
  return { ...all.done(), waiting, pages: () => pagesOf(client, source) };
}

async function* pagesOf(
  client: ClientBase,
  { name: from, page, firstId }: Source,
): AsyncGenerator<readonly ForeignJob[]> {
  for (let after = firstId; ;) {
    const { rows } = await client.query<{ id: string; name: string; payload: unknown; due: Date }>(page, [
      after,
      pageRows,
    ]);
    yield rows.map(({ id, name, payload, due }) => ({
      kind: jobIdOf(name),
      key: `${from}:${id}`,
      payload,
      dueAt: due.toISOString(),
    }));
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageRows) return;
    after = last.id;
  }
}

/** Of pg-boss 10 and later: a column that an older one lacks is read as null. */
export async function importPgBoss(client: ClientBase, schema: string): Promise<ImportedQueue> {
  const rowsOf = async (table: string): Promise<readonly Readonly<Record<string, unknown>>[]> => {
    const { rows } = await client.query<{ row: Readonly<Record<string, unknown>> }>(
      `select to_jsonb(t) as row from ${schema}.${table} t order by 1`,
    );
    return rows.map(({ row }) => row);
  };
  const queueOf = new Map((await rowsOf("queue")).map((row) => [row["name"], row]));
  const schedules = await rowsOf("schedule");
  return await importQueue(client, {
    name: "pg-boss",
    groups: `
select name, case when state = 'active' then 'runs there now: it ends there'
    when (to_jsonb(j) ->> 'blocked')::boolean then 'waits for other jobs there: write a graph'
    when ${isTime("start_after")} is not true then '${noTime}' end as why,
  count(*)::int as count, min(start_after) as due,
  array_remove(array[
    case when bool_or(priority <> 0) then 'had priorities: priority is of a kind here' end,
    case when bool_or(retry_count > 0) then 'some have failed before: they begin at attempt 1' end,
    case when bool_or(singleton_key is not null) then 'had singleton keys: see key and debounce of a job' end], null) as notes
from ${schema}.job j where state in ('created', 'retry', 'active') group by 1, 2 order by 1, 2`,
    page: `
select id, name, data as payload, start_after as due from ${schema}.job j
where state in ('created', 'retry') and (to_jsonb(j) ->> 'blocked')::boolean is not true and ${isTime("start_after")}
  and id > $1 order by id limit $2`,
    firstId: "00000000-0000-0000-0000-000000000000",
    options: (name) => retryOf(queueOf.get(name)),
    schedules(all, jobOf) {
      for (const { name, key, kind, cron, timezone, data } of schedules as readonly Readonly<
        Record<string, string>
      >[]) {
        const what = key ? `${name} ${key}` : String(name);
        if (kind === "rrule") all.refuse(what, `${cron} is a recurrence rule: write it as cron or every`);
        else {
          const job = jobOf(name ?? "");
          const found = {
            name: what.replaceAll(/\W+/g, "-"),
            was: what,
            expression: cron ?? "",
            timezone: timezone ?? "UTC",
          };
          all.add(what, { ...found, job, payload: data ?? null, notes: [] });
        }
      }
    },
  });
}

/** Of graphile-worker 0.16 and later. @param crontab its file: its tables keep no schedules */
export async function importGraphileWorker(
  client: ClientBase,
  schema: string,
  crontab: string | null,
): Promise<ImportedQueue> {
  const from = `from ${schema}._private_jobs j join ${schema}._private_tasks t on t.id = j.task_id`;
  return await importQueue(client, {
    name: "graphile-worker",
    groups: `
select t.identifier as name, case when j.locked_at is not null then 'runs there now: it ends there'
    when j.attempts >= j.max_attempts then 'has used up its attempts'
    when ${isTime("j.run_at")} is not true then '${noTime}' end as why,
  count(*)::int as count, min(j.run_at) as due,
  array_remove(array[
    case when bool_or(j.priority <> 0) then 'had priorities: priority is of a kind here' end,
    case when bool_or(j.attempts > 0) then 'some have failed before: they begin at attempt 1' end,
    case when bool_or(j.key is not null) then 'had job keys: see key and debounce of a job' end,
    case when bool_or(j.job_queue_id is not null) then 'ran one after the other in named queues: see concurrency of a job' end], null) as notes
${from} group by 1, 2 order by 1, 2`,
    page: `
select j.id, t.identifier as name, j.payload, j.run_at as due ${from}
where j.locked_at is null and j.attempts < j.max_attempts and ${isTime("j.run_at")} and j.id > $1 order by j.id limit $2`,
    firstId: "0",
    options: () => ({ retry: "{ maxAttempts: 25 }" }),
    schedules: (all, jobOf) => graphileCrontab(crontab ?? "", all, jobOf),
  });
}

const crontabLine = /^((?:[\d*/,-]+\s+){5})([\w:/-]+)(?:\s+\?(\S+))?(?:\s+(\{.*\}))?$/;

/** Its lines are of UTC, and name a task, options and a payload. */
function graphileCrontab(crontab: string, all: ReturnType<typeof collector>, jobOf: (name: string) => string): void {
  for (const [index, raw] of crontab.split(/\r?\n/).entries()) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) continue;
    const what = `line ${index + 1}: ${line}`;
    const [, fields = "", task, options = "", json = "null"] = crontabLine.exec(line) ?? [];
    const payload = jsonIn(json);
    if (task === undefined) all.refuse(what, "must be five fields, a task, and perhaps ?options and a payload");
    else if (payload === undefined) all.refuse(what, "has a payload that is JSON5: write it as JSON");
    else {
      const { id = task, fill, ...others } = Object.fromEntries(new URLSearchParams(options));
      const left = Object.keys(others).map((name) => `${name} is left out: it is an option of the job here`);
      const notes = [...left, ...(fill === undefined ? [] : [`fill=${fill}: see misfire of a schedule`])];
      const expression = fields.trim().replaceAll(/\s+/g, " ");
      all.add(what, {
        name: id.replaceAll(/\W+/g, "-"),
        job: jobOf(task),
        was: task,
        expression,
        timezone: "UTC",
        payload,
        notes,
      });
    }
  }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function retryOf(queue: Readonly<Record<string, unknown>> | undefined): ImportedJob["options"] {
  if (queue === undefined) return {};
  const { retry_limit: limit, retry_delay: seconds, retry_backoff: doubles } = queue;
  const members = [
    `maxAttempts: ${Number(limit) + 1}`,
    ...(Number(seconds) > 0 ? [`base: "${Number(seconds)}s"`] : []),
    `backoff: "${doubles === true ? "exponential" : "fixed"}"`,
  ];
  return { retry: `{ ${members.join(", ")} }` };
}
