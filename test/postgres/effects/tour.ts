import type { Pool } from "pg";
import type { Connections } from "../../../src/adapters/postgres/connect.ts";
import type { TestClock } from "../../../src/adapters/postgres/test-clock.ts";
import type { Operations } from "../../../src/core/ports/operations.ts";
import type { Store } from "../../../src/core/ports/ports.ts";

/** A migrated, empty database whose clock stands; what goes over its connections is watched. */
export interface World {
  readonly store: Store;
  readonly operations: Operations;
  readonly clock: TestClock;
  readonly connections: Connections;
  /** Raw SQL of the tour itself, which is not watched. */
  readonly pool: Pool;
  readonly url: string;
}

/** A fixed sequence of calls, the same each time. `tours/NAME.txt` says what their statements answer and write. */
export interface Tour {
  readonly name: string;
  /** Each in a world of its own, one after another. */
  readonly parts: readonly ((world: World) => Promise<void>)[];
  /** Statements whose answer depends on the server, or on how long a look may take, but that do the same each time here. */
  readonly alsoWatched?: readonly string[];
}
