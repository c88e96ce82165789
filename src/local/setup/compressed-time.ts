import type { Client } from "pg";
import { onConnection } from "../../postgres/access.ts";

export interface Compression {
  /** Seconds of the system per second of the machine. */
  readonly scale: number;
  /** `HH:MM` in UTC: a clock that was never compressed begins at the next such instant. Null: where it is. */
  readonly startsAt: string | null;
}

/**
 * Lets the database's clock run `scale` times as fast from now on, for a demonstration that shows hours in minutes.
 * The clock continues from its time and never jumps back; one that was never compressed is not changed.
 * @returns by how many milliseconds it is ahead of this machine's.
 */
export const compressTime = (databaseUrl: string, { scale, startsAt }: Compression): Promise<number> =>
  onConnection({ url: databaseUrl }, async (client) => {
    const aheadMs = await aheadOf(client);
    const isFresh = aheadMs === 0;
    if (scale === 1 && startsAt === null && isFresh) return 0;
    const { rows } = await client.query<{ here: string; there: string }>(beginning, [isFresh ? startsAt : null]);
    const [at] = rows;
    if (at === undefined) throw new Error("the database answered no time");
    // A function's body takes no parameters. The three values are two timestamps and a number of this file.
    await client.query(
      `create or replace function belfry.now() returns timestamptz language sql stable parallel safe
         return timestamptz '${at.there}' + (statement_timestamp() - timestamptz '${at.here}') * ${scale}`,
    );
    return await aheadOf(client);
  });

const beginning = `
  select statement_timestamp()::text as here, case
      when $1::time is null then belfry.now()
      when today >= belfry.now() then today
      else today + interval '24 hours'
    end::text as there
  from (select (date_trunc('day', belfry.now() at time zone 'UTC') + $1::time) at time zone 'UTC' as today) as clock`;

async function aheadOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ ms: number }>(
    "select (extract(epoch from belfry.now() - statement_timestamp()) * 1000)::float8 as ms",
  );
  return rows[0]?.ms ?? 0;
}
