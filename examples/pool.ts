import { databaseConnection } from "belfry/connect";
import { Pool } from "pg";

/** A few connections for the queries of a use case, outside of Belfry's transactions; opened with the first query. */
export function connections(max: number): () => Pool {
  let pool: Pool | null = null;
  return () => {
    pool ??= opened(max);
    return pool;
  };
}

function opened(max: number): Pool {
  const pool = new Pool({ ...databaseConnection(), max, query_timeout: 10_000, allowExitOnIdle: true });
  // An idle connection that breaks would end the process; the next query opens another one.
  pool.on("error", () => undefined);
  return pool;
}
