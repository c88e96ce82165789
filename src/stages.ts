/**
 * The stages of this deployment, side by side: everything that may differ between them is here or in a definition's
 * per-stage value, and nowhere else.
 */

/** Sets of apps a stage can include; `src/apps.ts` loads them. */
export type AppSet = "jobs" | "drill" | "examples";

export interface Stage {
  readonly name: string;
  /** `drill` fails on purpose, for stages that are tried out; `examples` is refused in a stage called prod. */
  readonly apps: readonly AppSet[];
  /** False for a stage that only ever runs on one machine. */
  readonly deployed: boolean;
  readonly database: {
    /** `max_connections` of the server; pools together use at most 60 % of it. */
    readonly maxConnections: number;
    /** Connections of one worker process: one for claim, heartbeat and settle, the others for `ctx.tx`. */
    readonly poolPerWorker: number;
  };
  /** API processes that may hold connections at once: each answers one request, or keeps one console's stream open. */
  readonly apiConcurrency: number;
  /** Also reserves as much of the account's concurrency, which a new account refuses: it has 10 in all. Default false. */
  readonly apiIsReserved?: boolean;
  /** Worker processes per lane, when the lane does not say. At least 2 (the event source mapping's own minimum). */
  readonly laneConcurrency: number;
  readonly workerMemoryMb: number;
  /** How far ahead of its due time a job may be handed to its queue. */
  readonly dispatchWindowMs: number;
  readonly onLockOutage: "postgres" | "skip";
  readonly logRetentionDays: 7 | 30 | 90;
  /**
   * Who may change things through the API, as ARNs of signers with `*` for any text, like
   * `arn:aws:sts::*:assumed-role/Operators/*`. Others who may call it only look. Left out: whoever may call.
   */
  readonly operators?: readonly string[];
  /** Name or ARN of the EventBridge bus that gets every event; left out: none does. */
  readonly eventBus?: string;
  /** In place of a bus: the address that gets every event by POST, and where the secret that signs them is kept. */
  readonly eventWebhook?: { readonly url: string; readonly secret: string };
  /** What handlers of a lane are given, on Lambda and in tasks on Fargate. */
  readonly lanes?: Readonly<Record<string, LaneSettings>>;
}

export interface LaneSettings {
  /** Of its functions, in place of `workerMemoryMb`. A job on Fargate has its own `size`. */
  readonly memoryMb?: number;
  /** In plain text in the template: no secrets. */
  readonly environment?: Readonly<Record<string, string>>;
  /**
   * By name, where the value is kept: the ARN of a secret in Secrets Manager, or the ARN or path of an SSM parameter. Read
   * when a process starts; neither the template nor a log ever has the value.
   */
  readonly secrets?: Readonly<Record<string, string>>;
}

const everywhere = {
  apiConcurrency: 4,
  workerMemoryMb: 512,
  dispatchWindowMs: 5 * 60_000,
  onLockOutage: "postgres",
} as const satisfies Partial<Stage>;

export const stages = {
  dev: {
    ...everywhere,
    name: "dev",
    apps: ["jobs", "examples"],
    deployed: true,
    database: { maxConnections: 100, poolPerWorker: 2 },
    laneConcurrency: 2,
    logRetentionDays: 30,
  },
  demo: {
    ...everywhere,
    name: "demo",
    apps: ["jobs", "examples"],
    deployed: false,
    database: { maxConnections: 200, poolPerWorker: 2 },
    laneConcurrency: 2,
    logRetentionDays: 30,
  },
  /** What `npm run deploy:emulator` deploys. */
  emulator: {
    ...everywhere,
    name: "emulator",
    apps: ["jobs", "drill"],
    deployed: false,
    database: { maxConnections: 100, poolPerWorker: 2 },
    laneConcurrency: 2,
    logRetentionDays: 30,
  },
  /** What `npm run smoke:aws` deploys, and destroys: a stage that nobody else has. */
  smoke: {
    ...everywhere,
    name: "smoke",
    apps: ["jobs", "drill", "examples"],
    deployed: true,
    database: { maxConnections: 120, poolPerWorker: 2 },
    laneConcurrency: 2,
    logRetentionDays: 7,
  },
  /** The cheapest that runs a team's own jobs. */
  small: {
    ...everywhere,
    name: "small",
    apps: ["jobs"],
    deployed: true,
    database: { maxConnections: 80, poolPerWorker: 2 },
    laneConcurrency: 2,
    // A new account has 10 concurrent executions: what this stage may use fits in.
    apiConcurrency: 6,
    logRetentionDays: 30,
  },
  prod: {
    ...everywhere,
    name: "prod",
    apps: ["jobs"],
    deployed: true,
    database: { maxConnections: 200, poolPerWorker: 2 },
    laneConcurrency: 10,
    apiConcurrency: 20,
    logRetentionDays: 30,
  },
} as const satisfies Record<string, Stage>;

export const stageNames: readonly string[] = Object.keys(stages);

/** @throws Error naming the stages there are. */
export function stageNamed(name: string): Stage {
  const known: Readonly<Record<string, Stage>> = stages;
  const stage = Object.hasOwn(known, name) ? known[name] : undefined;
  if (stage === undefined) {
    throw new Error(`stage "${name}" is not defined: use one of ${stageNames.join(", ")}, or add it to src/stages.ts`);
  }
  return stage;
}
