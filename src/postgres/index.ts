export { openConnections, type Connections, type PoolOptions } from "./connect.ts";
export { DatabaseError, DatabaseUnavailable, DatabaseUnfit } from "./failure.ts";
export { assertSchema, assertServer, migrate, type Migrated, type MigrateOptions, schemaVersion } from "./migrate.ts";
export { createPostgresStore } from "./store.ts";
export { installTestClock, type TestClock, testClock } from "./test-clock.ts";
