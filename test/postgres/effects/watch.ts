import { createHash } from "node:crypto";
import type { Pool, PoolClient } from "pg";
import type { Connections } from "../../../src/postgres/connect.ts";

/** Notes each row that a statement writes: the whole row when it is new or gone, else the columns that changed. */
export const noting = `
create schema noted;
create unlogged table noted.change (line text not null);
create function noted.note() returns trigger language plpgsql as $$
declare
  was jsonb := case when tg_op = 'INSERT' then '{}' else to_jsonb(old) end;
  now jsonb := case when tg_op = 'DELETE' then '{}' else to_jsonb(new) end;
begin
  insert into noted.change
  select format('%s %s %s %s', regexp_replace(tg_table_name, '_(\\d{8}|rest)$', ''), lower(tg_op),
    case tg_op when 'UPDATE' then concat(was ->> 'id', was ->> 'key', was ->> 'name', was ->> 'job_id', was ->> 'n') end,
    (select jsonb_object_agg(key, coalesce(now -> key, was -> key)) from jsonb_object_keys(was || now) key
     where was -> key is distinct from now -> key));
  return null;
end $$;
do $$ declare each text; begin
  for each in select relname from pg_class where relnamespace = 'belfry'::regnamespace and relkind in ('r', 'p') and not relispartition
    and relname <> 'test_clock'
  loop execute format('create trigger noted after insert or update or delete on belfry.%I for each row execute function noted.note()', each);
  end loop;
end $$`;

export type Send = (query: Query, values?: readonly unknown[]) => Promise<{ rows: object[]; rowCount: number | null }>;
type Query = string | { readonly name?: string; readonly text: string; readonly values?: readonly unknown[] };

/** A statement that is about to be sent. */
export interface Sending {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
  readonly client: PoolClient;
  readonly send: Send;
}
export type Before = (sending: Sending) => Promise<void>;

/** By statement, what its executions answered and wrote, and how often: counts to read, and a hash of all of it. */
export type Effects = Map<string, Map<string, number>>;

/** Called before each statement is sent: `test/mutate` tries the statement's mutants there. */
declare global {
  var belfryBeforeStatement: Before | undefined;
}

/** Adds from now on to what `seen` names at that time. */
export function watchEffects(connections: Connections, seen: { readonly now: Effects }): void {
  for (const each of [connections.main, connections.tx]) watch(each, seen);
}

/** The first epoch began when the template was made, and the roll-up counts the server's transactions; how far a search looks is a matter of time. */
const ofServer = new Set(["begin", "begin-fenced", "epoch", "roll-up-lock"]);
const isLeftOut = (name: string): boolean => ofServer.has(name) || name.startsWith("search-");

/** Of the mutants of a text: one of them may stand inside an operator, as of `<<`. */
const anyMarker = /\/\*(?:<\d+|\d+>)\*\//g;

function watch(pool: Pool, seen: { readonly now: Effects }): void {
  pool.on("connect", (client: PoolClient) => {
    const send = client.query.bind(client) as Send;
    const watched: Send = async (query, given = []) => {
      const text = typeof query === "string" ? query : query.text;
      const values = typeof query === "string" ? given : (query.values ?? []);
      const name = /^\/\* belfry:([a-z-]+) \*\//.exec(text)?.[1];
      if (name === undefined || isLeftOut(name)) return await send(text, values);
      await globalThis.belfryBeforeStatement?.({ name, text, values, client, send });
      const sent = text.replaceAll(anyMarker, "");
      const answer = await send({ name: `${name} ${shortHash([sent])}`, text: sent, values });
      const line = await effectOf(text, answer.rows, send);
      const known = seen.now.get(name) ?? new Map<string, number>();
      seen.now.set(name, known.set(line, (known.get(line) ?? 0) + 1));
      return answer;
    };
    Object.assign(client, { query: watched });
  });
}

/** No trigger sees what happens to a sequence. */
const raisesSequences = /belfry:epoch-sequences /;
const sequencesText = "select format('sequence %s at %s', sequencename, last_value) as line from pg_sequences";

/** What a statement answered and, by the triggers, has just written. */
export async function effectOf(text: string, answers: readonly object[], send: Send): Promise<string> {
  const { rows } = await send({ name: "noted", text: "delete from noted.change returning line" });
  const raised = raisesSequences.test(text) ? await send(sequencesText) : { rows: [] };
  const lines = [...(rows as { line: string }[]), ...(raised.rows as { line: string }[])]
    .map(({ line }) => scrubbed(line))
    .toSorted();
  const answered = answers.map((row) => scrubbed(JSON.stringify(row)));
  return lineOf(isOrdered(text) ? answered : answered.toSorted(), lines);
}

/** Whether the statement itself has an ORDER BY, and not only a part of it. */
function isOrdered(text: string): boolean {
  const outer = text.replaceAll(/\([^()]*\)/g, "");
  return outer === text ? text.includes("order by") : isOrdered(outer);
}

function lineOf(answered: readonly string[], lines: readonly string[]): string {
  const written = [...Map.groupBy(lines, (line) => line.split(" ", 2).join(" "))].map(
    ([what, those]) => `${those.length} ${what}`,
  );
  const all = [...answered, ...lines];
  if (process.env["EFFECTS"] !== undefined) process.stderr.write(`${all.join("\n")}\n`);
  return [`${answered.length} answered`, ...written, shortHash(all)].join(", ");
}

export const shortHash = (lines: readonly string[]): string =>
  createHash("sha256").update(lines.join("\n")).digest("hex").slice(0, 8);

/**
 * What is drawn at random, or numbers transactions, sessions and events, is not the same in two runs. Transactions from
 * `9000000000000` on are those of a tour's own rows.
 */
const scrubbed = (text: string): string =>
  text
    .replaceAll(/"(xid|xmin|upto|pid|server|snapshot|next)": ?(?!"?9\d{12}\b)("[^"]*"|\d+)/g, '"$1":0')
    .replaceAll(/("place":"[^"]*","version":)"\d+"/g, "$10")
    .replaceAll(/"name": ?"[0-9a-f]{8}"/g, '"name":0')
    .replaceAll(/[0-9a-f]{8}~[\d.:~]+/g, "CURSOR");
