import { databaseConnection } from "belfry/connect";
import { Pool } from "pg";

/** A few connections for the queries of a use case, outside of Belfry's transactions; opened with the first query. */
export function connections(max: number, queryMs = 10_000): () => Pool {
  let pool: Pool | null = null;
  let url: string | undefined;
  return () => {
    // A test has a database of its own each time.
    if (pool === null || url !== process.env["DATABASE_URL"]) pool = opened(max, queryMs);
    url = process.env["DATABASE_URL"];
    return pool;
  };
}

function opened(max: number, queryMs: number): Pool {
  const pool = new Pool({ ...databaseConnection(), max, query_timeout: queryMs, allowExitOnIdle: true });
  // An idle connection that breaks would end the process; the next query opens another one.
  pool.on("error", () => undefined);
  return pool;
}
