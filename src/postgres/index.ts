export { openConnections, type Connections, type PoolOptions } from "./connect.ts";
export { DatabaseError, DatabaseUnavailable, DatabaseUnfit } from "./failure.ts";
export { migrate, type Migrated, type MigrateOptions } from "./migrate.ts";
export { assertSchema, assertServer, schemaVersion } from "./schema-version.ts";
export { createPostgresStore } from "./store.ts";
export { installTestClock, type TestClock, testClock } from "./test-clock.ts";
