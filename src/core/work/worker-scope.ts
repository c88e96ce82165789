import type { Registry } from "../define/definition.ts";
import type { Heart } from "./heart.ts";
import type { Ports } from "../ports/ports.ts";
import type { Pace } from "./pace.ts";
import type { Settler } from "./settler.ts";
import type { WorkerOptions } from "./worker-options.ts";

/** What the parts of one worker share. */
export interface WorkerScope {
  readonly ports: Ports;
  readonly registry: Registry;
  readonly options: WorkerOptions;
  readonly heart: Heart;
  readonly settler: Settler;
  /** Of the tasks it launches. */
  readonly launches: Pace;
  /** Aborts when the worker was told to stop. */
  readonly stopping: AbortSignal;
}
