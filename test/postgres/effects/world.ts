import type { Tally } from "../../../src/machine/ports.ts";
import type { Pool } from "pg";
import type { Connections } from "../../../src/postgres/connect.ts";
import type { TestClock } from "../../../src/postgres/test-clock.ts";
import type { Database } from "../../../src/insight/sql-query.ts";
import type { TestStore } from "../../support/looks.ts";

/** A migrated, empty database whose clock stands; what goes over its connections is watched. */
export interface World {
  readonly store: TestStore;
  readonly tally: Tally;
  readonly insight: Database;
  readonly clock: TestClock;
  readonly connections: Connections;
  /** Raw SQL of the test itself, which is not watched. */
  readonly pool: Pool;
  readonly url: string;
  close(): Promise<void>;
}
