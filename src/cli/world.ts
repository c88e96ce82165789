import type { Streams } from "./output.ts";

/** What a command may use of the world. */
export interface World {
  readonly streams: Streams;
  readonly env: NodeJS.ProcessEnv;
  /** Where the command was started. */
  readonly folder: string;
  /** Aborted by Ctrl-C; left out: nothing interrupts. */
  readonly interrupted?: AbortSignal;
}
