import type { Tx } from "belfry";
import { filePath, messageKey } from "./input.ts";

// Behind the highest number that is there; two writers at once must not take the same ones.
const lock = "select pg_advisory_xact_lock(hashtext('batch_scheduler.arrivals'))";
const highest = `
  select coalesce((select max(substring(key from '\\d+$')::int) from batch_scheduler.outbox where key like 'order-%'), 0) as messages,
    coalesce((select max(substring(path from '\\d+')::int) from batch_scheduler.external_file), 0) as files`;
const addMessages = `
  insert into batch_scheduler.outbox (key, topic, body, next_attempt_at, written_at)
  select key, 'orders', jsonb_build_object('order', key), now(), now() from unnest($1::text[]) as key`;
const addFiles = `
  insert into batch_scheduler.external_file (path, next_attempt_at) select path, now() from unnest($1::text[]) as path`;

/** New rows of the outbox and new files of partners, in the writer's own transaction. @returns the keys and paths. */
export async function arrive(tx: Tx, count: { readonly messages: number; readonly files: number }) {
  await tx.query(lock, []);
  const [last] = (await tx.query(highest, [])).rows as { messages: number; files: number }[];
  const after = (from: number, length: number): number[] => Array.from({ length }, (_, n) => from + n + 1);
  const keys = after(last?.messages ?? 0, count.messages).map(messageKey);
  const paths = after(last?.files ?? 0, count.files).map(filePath);
  await tx.query(addMessages, [keys]);
  await tx.query(addFiles, [paths]);
  return { keys, paths };
}
