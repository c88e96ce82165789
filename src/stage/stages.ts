import type { CallerScope } from "../define/scope.ts";

export type { CallerScope, Scope } from "../define/scope.ts";

/** What a stage is. `belfry.config.ts` names the stages; everything that may differ between them is there or in a per-stage value. */
export interface Stage {
  readonly name: string;
  /** Names of `apps` in belfry.config.ts. Only these are bundled and run. */
  readonly apps: readonly string[];
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
  /** A size of Fargate: 1,024 CPU units are a core. One task under one lock relays all that the stage sends. */
  readonly schedulerTask: { readonly cpu: number; readonly memoryMb: number };
  /** How far ahead of its due time a job may be handed to its queue. */
  readonly dispatchWindowMs: number;
  readonly onLockOutage: "postgres" | "skip";
  readonly logRetentionDays: 7 | 30 | 90;
  /**
   * Who may change things through the API, as ARNs of signers with `*` for an account or a session, like
   * `arn:aws:sts::*:assumed-role/Operators/*`. Others who may call it only look. `["*"]`: every caller that IAM lets in. A
   * deployed stage has to say; `[]`: none.
   */
  readonly operators?: readonly string[];
  /** Who sees what definitions mark as sensitive, likewise. Left out: the `operators` that are named by ARN; of `["*"]` none. */
  readonly revealers?: readonly string[];
  /** Bounds of some callers, in either role; the parts of several that name one caller add up. Left out: none has any. */
  readonly scopes?: readonly CallerScope[];
  /** Name or ARN of the EventBridge bus that gets every event; left out: none does. */
  readonly eventBus?: string;
  /** In place of a bus: the address that gets every event by POST, and where the secret that signs them is kept. */
  readonly eventWebhook?: { readonly url: string; readonly secret: string };
  /** This stage is one of several cells. */
  readonly cell?: CellSettings;
  /** What is pruned is written here first; left out: it is only deleted. */
  readonly archive?: ArchiveOptions;
  /** What handlers of a lane are given, on Lambda and in tasks on Fargate. */
  readonly lanes?: Readonly<Record<string, LaneSettings>>;
}

export interface CellSettings {
  /** 0 to 63: ids of the stage tell it. Another stage of the same cells has another one, and it never changes. */
  readonly number: number;
  /** Whether the schedules that code defines run here. Default: in cell 0 alone, so that each fires once. */
  readonly runsSchedules?: boolean;
}

export interface ArchiveOptions {
  /** Lines of JSON, compressed by gzip. */
  readonly format: "ndjson";
  /** A bucket that exists, which gets no rule and no setting of Belfry's; left out: the stack makes one. */
  readonly bucket?: string;
  /** Of the stack's bucket: days until an object moves to Glacier Instant Retrieval. Left out: it stays. */
  readonly coldAfterDays?: number;
  /** Of the stack's bucket: days until an object is deleted. Left out: it is kept. */
  readonly keptDays?: number;
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

/** Who makes the passes: a task that a rule starts each minute, or a service of one task. @beta */
export type SchedulerKind = "each-minute" | "service";

/**
 * Spare capacity may be away for hours: minutes between the passes on demand beside it. ECS itself asks again for the task of a
 * service. Jobs are in their queues 5 minutes ahead.
 */
export const onDemandMinutes = { "each-minute": 5, service: 10 } as const satisfies Record<SchedulerKind, number>;

/** A stage as `belfry.config.ts` writes it: every field has a default, `{}` is a whole stage. */
export type StageOptions = Partial<Omit<Stage, "name">>;

/** @param number of `BELFRY_CELL`, in place of the stage's own; null: as the stage says. */
export const asCell = (stage: Stage, number: number | null): Stage =>
  number === null ? stage : { ...stage, cell: { ...stage.cell, number } };

/** A small team's own stage: an RDS instance of the smallest size allows these connections. */
export const stageDefaults = {
  deployed: true,
  database: { maxConnections: 80, poolPerWorker: 2 },
  laneConcurrency: 2,
  apiConcurrency: 4,
  workerMemoryMb: 512,
  schedulerTask: { cpu: 256, memoryMb: 512 },
  dispatchWindowMs: 5 * 60_000,
  onLockOutage: "postgres",
  logRetentionDays: 30,
} as const satisfies StageOptions;

/** @param apps what the stage runs when it does not say: all. */
export const stageOf = (name: string, options: StageOptions, apps: readonly string[]): Stage => ({
  ...stageDefaults,
  apps,
  ...options,
  name,
});
