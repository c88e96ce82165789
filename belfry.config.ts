import { defineConfig } from "belfry/config";

/** What this repository runs where. A team's own project has such a file too, without the stages that only try Belfry out. */
/** Every caller that IAM lets in may change things. A stage that people rely on names roles in its place: docs/deploy.md. */
const everybody = { operators: ["*"] };

const config = defineConfig({
  apps: {
    jobs: "./jobs/index.ts",
    /** Fails on purpose, for stages that are tried out. */
    drill: "./jobs/drill.ts",
    examples: "./examples/index.ts",
    /** The same, each by itself and without the fakes that they call: for a stage that is deployed. */
    "batch-scheduler": "./examples/batch-scheduler/app.ts",
    "daily-quiz": "./examples/daily-quiz/app.ts",
    "dag-batch": "./examples/dag-batch/app.ts",
    taskflow: "./examples/taskflow/app.ts",
    "time-capsule": "./examples/time-capsule/app.ts",
  },
  stages: {
    dev: { ...everybody, apps: ["jobs"], database: { maxConnections: 100, poolPerWorker: 2 } },
    /** `npm start -- --examples`. */
    examples: { apps: ["jobs", "examples"], deployed: false, database: { maxConnections: 200, poolPerWorker: 2 } },
    demo: { apps: ["jobs", "examples"], deployed: false, database: { maxConnections: 200, poolPerWorker: 2 } },
    /** What `npm run deploy:emulator` deploys. */
    emulator: {
      ...everybody,
      apps: ["jobs", "drill", "daily-quiz"],
      lanes: { push: { environment: { QUIZ_PUSH_URL: process.env["QUIZ_PUSH_URL"] ?? "https://push.example.com" } } },
      deployed: false,
      database: { maxConnections: 100, poolPerWorker: 2 },
    },
    /** What `npm run smoke:aws` deploys, and destroys: a stage of its own. */
    smoke: {
      ...everybody,
      apps: ["jobs", "drill", "examples"],
      database: { maxConnections: 120, poolPerWorker: 2 },
      logRetentionDays: 7,
    },
    /** The five systems as their authors run them: `infra/systems.ts` says what they call. */
    systems: {
      ...everybody,
      apps: ["batch-scheduler", "daily-quiz", "dag-batch", "taskflow", "time-capsule"],
      database: { maxConnections: 120, poolPerWorker: 2 },
    },
    /** The cheapest that runs a team's own jobs. */
    // A new account has 10 concurrent executions: what this stage may use fits in.
    small: { ...everybody, apps: ["jobs"], apiConcurrency: 6 },
    prod: {
      ...everybody,
      apps: ["jobs"],
      laneConcurrency: 10,
      apiConcurrency: 20,
      database: { maxConnections: 200, poolPerWorker: 2 },
    },
  },
});

/** Only here: the outside targets that the examples call on one machine. */
export default { ...config, fakes: "./examples/fakes.ts" };
