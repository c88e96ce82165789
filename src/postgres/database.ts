import type { Database, SqlQuery } from "../insight/sql-query.ts";
import type { Tx } from "../machine/transaction.ts";
import type { Connections } from "./connect.ts";
import { currentEpoch } from "./epoch.ts";
import { createSession, type SessionOptions } from "./session.ts";
import { execute } from "./statement.ts";

/** Tests set `checksRows`: then each row is compared with the shape that its query declares. */
interface DatabaseOptions extends SessionOptions {
  readonly checksRows?: boolean;
}

export function createDatabase(connections: Connections, options: DatabaseOptions = {}): Database {
  const session = createSession(connections.main, connections.where, options);
  const checked = <R>({ row }: Pick<SqlQuery<never, R>, "row">, rows: R[]): R[] =>
    options.checksRows === true ? rows.map((each) => row.parse(each)) : rows;
  const within = (tx: Tx): Database => ({
    ...database,
    run: async (query, params) => checked(query, await execute(tx, query, query.params(params))),
    transaction: (work) => work(within(tx)),
  });
  const database: Database = {
    run: async (query, params) => checked(query, await session.run(query, query.params(params))),
    transaction: (work) => session.transaction((tx) => work(within(tx))),
    within,
    epoch: () => currentEpoch(session),
  };
  return database;
}
