import type { Json } from "../job/job.ts";

/** What a kind marked as sensitive when a release with it was installed. */
export interface KeptMarks {
  readonly kind: string;
  /** JSON Schema, of which only what leads to marks is left; `{}`: nothing was marked. */
  readonly marks: Json;
}

/** The part of the port for operators of what is hidden from some of them. */
export interface Secrecy {
  /** Adds to what is kept: a release that drops a mark does not take it from what was written before. */
  keepMarks(rows: readonly KeptMarks[]): Promise<void>;
  keptMarks(): Promise<readonly KeptMarks[]>;
  /** 32 bytes that never leave a process: no guess can be compared with an HMAC under them. */
  stageKey(): Promise<Uint8Array>;
}
