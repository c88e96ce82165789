import type { Registry } from "../define/definition.ts";
import type { Circuits } from "./circuits.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import type { Ports } from "../machine/ports.ts";
import type { RateLimiter } from "./rate-limiter.ts";
import type { Settler } from "./settler.ts";
import type { WorkerOptions } from "./worker-options.ts";

/** The state that the parts of one worker share. */
export interface WorkerScope {
  readonly ports: Ports;
  readonly registry: Registry;
  readonly options: WorkerOptions;
  readonly leases: LeaseKeeper;
  readonly settler: Settler;
  readonly circuits: Circuits;
  /** Paces the launches of tasks. */
  readonly launches: RateLimiter;
  /** Aborts when the worker stops. */
  readonly stopping: AbortSignal;
  /** The process has no file descriptors left: it should end after its batch. */
  readonly spend: () => void;
}
