import { defineConfig } from "belfry/config";

/** Another team's project, whose stage has the name of the first one's. */
export default defineConfig({
  apps: { payroll: "./jobs.ts" },
  stages: { emulator: { operators: ["*"], database: { maxConnections: 100, poolPerWorker: 2 } } },
});
