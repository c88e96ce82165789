/** What a developer's definitions become: plain, checked data. `work/` runs it; only the `define` functions make it. */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { CapByKey } from "../admission/cap-by-key.ts";
import type { Rate } from "../admission/rate.ts";
import type { TurnRule } from "../admission/turn.ts";
import type { BatchBody, Context, SettledJob } from "./context.ts";
import type { CircuitRule } from "../machine/circuit-store.ts";
import type { Json, SlotGroup, DebounceRule } from "../machine/job.ts";
import type { Problem } from "./problem.ts";
import type { TaskSize } from "../machine/launcher.ts";
import type { Continuation, InRun, FailurePolicy, RunResult, TaskWait } from "../machine/run.ts";
import type { Tx } from "../machine/transaction.ts";
import type { RetryPolicy } from "../machine/backoff.ts";
import type { SealedBy } from "../machine/seal.ts";
import type { GraphTask } from "./graph-shape.ts";
import type { Moment } from "./moment.ts";
import type { Query } from "./query.ts";
import type { Routes } from "./routes.ts";
import type { ScheduleSpec } from "../machine/schedule.ts";
import type { Blackout } from "./blackout.ts";
import type { LaneDefinition } from "./lane.ts";
import type { ByStage } from "./stage.ts";

export interface PayloadIssue {
  readonly path: string;
  readonly message: string;
}

export type PayloadCheck =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly issues: readonly PayloadIssue[] };

export interface JobDefinition {
  readonly id: string;
  readonly lane: string;
  readonly runOn: "lambda" | "fargate";
  /** Names of variables and of secrets that its handler reads: the stage has to give them to its lane. */
  readonly environment?: readonly string[] | undefined;
  readonly secrets?: readonly string[] | undefined;
  /** Of its task; null is that of the task definition. */
  readonly size: TaskSize | null;
  readonly timeoutMs: number;
  readonly leaseMs: number;
  readonly retry: RetryPolicy;
  readonly retentionMs: number;
  readonly onAmbiguous: "retry" | "park";
  /** Jobs of this kind at once, exact; null is no cap. */
  readonly concurrency: number | null;
  /** Jobs of this kind and one key at once, exact; null is no cap by key. */
  readonly concurrencyByKey: CapByKey | null;
  /** How many of this kind start in a time, exact; null is no rate. */
  readonly rate: Rate | null;
  /** When none of its jobs starts. */
  readonly blackouts?: readonly Blackout[] | undefined;
  /** Null: its jobs do not wait while what they call is down. */
  readonly circuit: CircuitRule | null;
  readonly lock: { readonly name: string } | null;
  /** Limits that it shares with other kinds. */
  readonly limits: readonly Limited[];
  /** The slot groups that every job of this kind needs: its caps, its rate, its lock and those of its limits. */
  readonly slotGroups: readonly SlotGroup[];
  /** Null: its payloads and results are stored as they are. */
  readonly seal: SealedBy | null;
  /** Null: its jobs do not wait for a turn. */
  readonly turns: TurnRule | null;
  /** Applies the schema: the value a handler gets has its defaults. */
  readonly check: (payload: unknown) => PayloadCheck | Promise<PayloadCheck>;
  readonly key: ((payload: unknown) => string) | null;
  /** Null: each call makes a job. */
  readonly debounce: DebounceRule | null;
  /** What it was checked with; null takes no payload, or one of Belfry's own. */
  readonly schema: StandardSchemaV1 | null;
  readonly body: JobBody;
  readonly onSettled: ((payload: unknown, settled: SettledJob, tx: Tx) => Promise<void>) | null;
  /** Problems of the definition; `check` shows all of them together before anything starts. */
  readonly problems: readonly Problem[];
  /** Jobs this one makes: they belong to the same app. */
  readonly makes?: readonly JobDefinition[];
}

/** A shared limit as its gates read it, like a job of its own. No kind has its id: `@NAME`. */
export type Limited = Pick<JobDefinition, "id" | "concurrency" | "concurrencyByKey" | "rate"> & { readonly lock: null };

export type JobBody = HandlerBody | BatchBody | TaskBody | GraphBody | DataGraphBody | FanOutBody | SweepBody;

export interface HandlerBody {
  readonly is: "handler";
  readonly run: (payload: unknown, context: Context) => Promise<Json | void>;
}

/** A task of a graph: it gets its run's input and what its predecessors left. */
export interface TaskBody {
  readonly is: "task";
  readonly graph: Pick<JobDefinition, "id" | "check"> & { readonly seal?: string | undefined };
  /** What `run` and `when` are called with. */
  readonly given: (run: InRun, input: unknown, payload: unknown) => unknown;
  readonly when: ((given: unknown) => boolean | Promise<boolean>) | null;
  readonly run: (given: unknown, context: Context) => Promise<Json | void>;
  /** Null: it starts once its predecessors have ended. */
  readonly wait: WaitOfTask | null;
  /** Its rows; null for a task that is one job, whose `run` is its work. */
  readonly each: EachOfTask | null;
}

/** One job for each row, in a run of their own that the task starts and waits for. */
export interface EachOfTask {
  readonly rows: JobDefinition;
  readonly by: string;
  readonly tolerate: number;
  /** Of what the task is called with: a list, a query or an iterable, or a promise of one. */
  readonly from: (given: unknown) => unknown;
  readonly key: ((row: unknown) => string) | null;
  /** Null: the figures are the output. */
  readonly fold:
    ((outputs: AsyncIterable<Json | null>, end: Omit<RunResult, "outcome">) => Promise<Json> | Json) | null;
}

/** `until`: the time that it waits for, by the run's input; null: by `ms`, from the end of its predecessors. */
export interface WaitOfTask extends TaskWait {
  readonly until: ((input: unknown) => Date) | null;
}

export type TaskDefinition = JobDefinition & { readonly body: TaskBody };

export interface AnyGraphBody {
  /** A changed graph never touches a run that has started. */
  readonly version: number;
  readonly onFailure: FailurePolicy;
  readonly ends: RunEnds;
}

export interface GraphBody extends AnyGraphBody {
  readonly is: "graph";
  readonly tasks: readonly GraphTaskDefinition[];
}

export interface GraphTaskDefinition extends GraphTask {
  readonly definition: TaskDefinition;
}

/** A graph whose tasks come as data, read and checked when a run starts. */
export interface DataGraphBody extends AnyGraphBody {
  readonly is: "dataGraph";
  /** Every task is a job of this one. */
  readonly task: TaskDefinition;
  readonly tasksOf: (input: unknown) => unknown;
}

export interface RunEnds {
  /** The share of them, 0 to 1, that may fail or be canceled while the run ends DONE. */
  readonly tolerate: number;
  readonly continuation: Continuation | null;
}

/** Rows, to be read once from their start; those of a query page by page. */
export type Rows = Query<unknown> | AsyncIterable<unknown> | Iterable<unknown>;

/** One job for each row, of one key, with one payload. */
interface RowsBody {
  /** The column the rows are paged by. */
  readonly by: string;
  readonly each: JobDefinition;
  readonly key: (row: unknown, occurrence: Moment) => string;
  readonly payload: (row: unknown, occurrence: Moment) => unknown;
}

export interface FanOutBody extends RowsBody {
  readonly is: "fanOut";
  readonly ends: RunEnds;
  readonly from: (occurrence: Moment) => Rows | Promise<Rows>;
  /** Evaluated right before a target is claimed; null: every target is wanted. */
  readonly stillWanted: ((row: unknown) => Promise<boolean> | boolean) | null;
  /** A schedule makes it due this much before the nominal time. */
  readonly materializeBeforeMs: number;
}

export interface SweepBody extends RowsBody {
  readonly is: "sweep";
  /** Null: its jobs belong to no run. */
  readonly ends: RunEnds | null;
  readonly due: (occurrence: Moment) => Query<unknown>;
  readonly batchSize: number;
  readonly maxIterations: number;
  /** Starting later than this is alarmed. */
  readonly maxLatenessMs: number;
}

/** Whether its payload may name the moment: a job that was triggered by hand has no occurrence. */
export const readsMoment = ({ body }: JobDefinition): boolean => body.is === "fanOut" || body.is === "sweep";

/** The version of a graph's shape; null for a job without one. */
export const graphVersionOf = ({ body }: JobDefinition): number | null =>
  body.is === "graph" || body.is === "dataGraph" ? body.version : null;

/** A schedule as `defineSchedule` made it. */
export interface ScheduleDefinition {
  readonly is: "schedule";
  readonly id: string;
  /** @internal */
  readonly job: JobDefinition;
  /**
   * The stored form for one stage, computed from code; `problems` of the definition are found before this is called.
   * @internal
   */
  readonly spec: (stage: string, app: string) => ScheduleSpec;
  /**
   * The payload of one occurrence; left out: it has none.
   * @internal
   */
  readonly payload?: (occurrence: Occurrence) => unknown;
  /** @internal */
  readonly problems?: readonly Problem[];
  /** The id of the schedule that it follows. @internal */
  readonly after?: string;
  /** Surprises in its expression; `check` prints them. @internal */
  readonly notes?: readonly string[];
  /**
   * The settings that differ by stage, by field: `check` finds unknown and missing stages.
   * @internal
   */
  readonly staged?: Readonly<Record<string, ByStage<unknown>>>;
}

/** The occurrence as a handler, a payload function or a query gets it. */
export interface Occurrence {
  readonly scheduleId: string;
  readonly scheduledFor: Date;
  readonly timezone: string;
  /** The local date of the nominal time in the schedule's zone, `YYYY-MM-DD`. */
  readonly day: string;
  readonly isCatchUp: boolean;
  readonly missedCount: number;
}

/** @internal */
export const appFormat = 1;

/** An app as `defineApp` made it: the default export of a module that `belfry.config.ts` names. */
export interface AppDefinition {
  readonly is: "app";
  readonly name: string;
  /**
   * Changes when copies of Belfry in one process cannot work together.
   * @internal
   */
  readonly format: typeof appFormat;
  /** @internal */
  readonly jobs: readonly JobDefinition[];
  /** @internal */
  readonly schedules: readonly ScheduleDefinition[];
  /** @internal */
  readonly lanes: Readonly<Record<string, LaneDefinition>>;
  /** @internal */
  readonly limits: readonly Limited[];
  /**
   * A folder of numbered SQL files of the app's own tables, as a file URL; null when it has none.
   * @internal
   */
  readonly migrations: URL | null;
  /**
   * Its own HTTP app, or null.
   * @internal
   */
  readonly routes: Routes | null;
  /** @internal */
  readonly problems?: readonly Problem[];
}

export interface Registry {
  readonly apps: readonly AppDefinition[];
  readonly jobs: ReadonlyMap<string, JobDefinition>;
  readonly schedules: ReadonlyMap<string, ScheduleDefinition>;
  /** Shared limits by id, `@NAME`. */
  readonly limits: ReadonlyMap<string, Limited>;
}

export const sharedLimitsOf = (app: AppDefinition): readonly Limited[] => [
  ...app.limits,
  ...app.jobs.flatMap((job) => job.limits),
];

/** @throws Error on a duplicate id; `check` reports these before anything starts. */
export function registry(apps: readonly AppDefinition[]): Registry {
  const jobs = new Map<string, JobDefinition>();
  const schedules = new Map<string, ScheduleDefinition>();
  for (const app of apps) {
    for (const job of app.jobs) addOnce(jobs, job, "job");
    for (const schedule of app.schedules) addOnce(schedules, schedule, "schedule");
  }
  const limits = new Map(apps.flatMap(sharedLimitsOf).map((limit) => [limit.id, limit]));
  return { apps, jobs, schedules, limits };
}

function addOnce<T extends { readonly id: string }>(map: Map<string, T>, item: T, what: string): void {
  const known = map.get(item.id);
  if (known !== undefined && known !== item)
    throw new Error(`duplicate ${what} id "${item.id}": ids are unique across apps`);
  map.set(item.id, item);
}
