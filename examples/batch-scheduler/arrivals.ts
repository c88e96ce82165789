import type { Tx } from "belfry";

const insert = `
  with file as (insert into batch_scheduler.external_file select from generate_series(1, $2::int))
  insert into batch_scheduler.outbox (body) select jsonb_build_object('amount', n) from generate_series(1, $1::int) as n
  returning key`;

/** What other parts of the shop write in their own transactions: messages, and files that partners offer. */
export const arrive = async (tx: Tx, { messages, files }: { messages: number; files: number }) =>
  (await tx.query(insert, [messages, files])).rows as { key: string }[];
