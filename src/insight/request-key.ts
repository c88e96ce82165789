import { z } from "zod";
import { type Database, sqlQuery } from "./sql-query.ts";

/** A request that makes something once for its key. */
export interface KeyedRequest {
  /** Unique in the stage while it is kept: `insightLimits.requestKeysMs`, and the newest `requestKeysMax`. */
  readonly key: string;
  /** SHA-256 of all that was asked, in hex. It is compared and never shown. */
  readonly hash: string;
}

/** Another request took the key first: nothing was written for this one. */
export class RequestKeyTaken extends Error {
  override readonly name = "RequestKeyTaken";
}

/** The request that had this key, while it is kept, and the id of what it made. Locks nothing. */
export const readRequest = sqlQuery("request-read", {
  params: (key: string) => [key],
  row: z.object({ hash: z.string(), made: z.string() }),
})("select encode(hash, 'hex') as hash, made from belfry.request_key where key = $1");

/** No row: the key is taken. Locks: the unique entry of the key; it waits for another that inserts the same one. */
export const writeRequest = sqlQuery("request-write", {
  params: ({ key, hash, made }: KeyedRequest & { readonly made: string }) => [key, hash, made],
  row: z.object({ key: z.string() }),
})(`
insert into belfry.request_key (key, hash, made, created_at) values ($1, decode($2, 'hex'), $3, belfry.now())
on conflict do nothing returning key`);

/** Keeps a request in the transaction that made what it asked for. @throws RequestKeyTaken */
export async function keepRequest(transaction: Database, request: KeyedRequest, made: string): Promise<void> {
  const rows = await transaction.run(writeRequest, { ...request, made });
  if (rows.length === 0) throw new RequestKeyTaken("another request has this key");
}
