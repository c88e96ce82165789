import type { QueryConfig } from "pg";
import type { TestDatabase } from "../support/database.ts";

/**
 * What these connections send to the server from now on, one name for each round trip. `change` may send another text in the
 * place of one. To be called before the first statement.
 */
export function watchTrips(
  { connections }: Pick<TestDatabase, "connections">,
  change: (text: string) => string = (text) => text,
): string[] {
  const trips: string[] = [];
  for (const pool of [connections.main, connections.tx]) {
    pool.on("connect", (client) => {
      const send = client.query.bind(client) as (...given: unknown[]) => unknown;
      const watched = (first: string | QueryConfig, ...rest: unknown[]): unknown => {
        const text = change(typeof first === "string" ? first : first.text);
        trips.push(/belfry:([a-z-]+)/.exec(text)?.[1] ?? text);
        return send(typeof first === "string" ? text : { ...first, text }, ...rest);
      };
      client.query = watched as typeof client.query;
    });
  }
  return trips;
}
