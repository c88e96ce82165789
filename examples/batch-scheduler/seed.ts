import { databasePool } from "belfry/connect";
import type { Tx } from "belfry";
import { filePath, input, messageKey } from "./input.ts";

// Written one second apart, the last one now: the 300 that are always refused are the oldest. Safe to run again.
const messages = `
  insert into batch_scheduler.outbox (key, body, next_attempt_at)
  select key, jsonb_build_object('amount', n * 7919 % 10007), belfry.now() - (cardinality($1) - n) * interval '1 second'
  from unnest($1::text[]) with ordinality as message (key, n) order by n
  on conflict (key) do nothing`;
const files = `
  insert into batch_scheduler.external_file (path) select unnest($1::text[]) on conflict (path) do nothing`;

const upTo = (count: number, name: (n: number) => string) => Array.from({ length: count }, (_, n) => name(n + 1));

export async function seed(client: Tx): Promise<void> {
  await client.query(messages, [upTo(input.messages, messageKey)]);
  await client.query(files, [upTo(input.files, filePath)]);
}

if (import.meta.main) await seed(databasePool()());
