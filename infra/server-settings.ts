/**
 * What the server's vacuum needs beside the settings of each table, as a parameter group writes it: seconds between two looks at a
 * database, and how much it does between two naps of 2 ms. Postgres's own minute and 200 let the rows of a full minute lie around.
 */
export const vacuumSettings = { autovacuum_naptime: "5", autovacuum_vacuum_cost_limit: "2000" } as const;
