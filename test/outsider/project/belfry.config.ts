import { defineConfig } from "belfry/config";

/** The system that the outsider meets: the kinds that the examples of docs/api.md name. */
export default defineConfig({
  apps: { jobs: "./jobs.ts" },
  stages: { dev: { deployed: false, database: { maxConnections: 60, poolPerWorker: 2 } } },
});
