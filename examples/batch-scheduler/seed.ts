import { databaseConnection } from "belfry/connect";
import { Client } from "pg";
import { filePath, input, messageKey } from "./input.ts";

// Written one second apart, the last one now: the 300 that are always refused are the oldest. Safe to run again.
const messages = `
  insert into batch_scheduler.outbox (key, topic, body, next_attempt_at, written_at)
  select key, 'orders', jsonb_build_object('order', key, 'amount', n * 7919 % 10007), at, at
  from unnest($1::text[]) with ordinality as message (key, n),
    lateral (select now() - (cardinality($1::text[]) - n) * interval '1 second' as at) as written
  order by n
  on conflict (key) do nothing`;

const files = `
  insert into batch_scheduler.external_file (path, next_attempt_at)
  select path, now() from unnest($1::text[]) with ordinality as file (path, n) order by n
  on conflict (path) do nothing`;

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

export async function seed(client: Pick<Client, "query">): Promise<void> {
  await client.query(messages, [numbers(input.messages).map(messageKey)]);
  await client.query(files, [numbers(input.files).map(filePath)]);
}

if (import.meta.main) {
  const client = new Client(databaseConnection());
  await client.connect();
  await seed(client);
  await client.end();
}
