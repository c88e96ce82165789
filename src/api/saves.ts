import type { HealthReply } from "./shape/schedule.ts";

type Code = NonNullable<HealthReply["code"]>;
/** Which of the project's code runs in a local system, and in which parts, for people: `scheduler`, `API`, `lane default`. */
export type RunningCode = Omit<Code, "parts"> & { readonly parts: readonly string[] };
/** A save that cannot be used: `file:line  what is wrong and how to fix it`, or all problems of the definitions. */
export type RejectedSave = NonNullable<Code["refused"]>;

/** What became of the newest save, for `/health` and for the pages that are open. */
export interface ReloadStatus {
  /** Null before it is known. */
  running(): RunningCode | null;
  /** @returns what ends it. */
  onChange(listen: () => void): () => void;
}

export function keptSaves(): ReloadStatus & { tell(code: RunningCode): void } {
  const listeners = new Set<() => void>();
  let current: RunningCode | null = null;
  return {
    running: () => current,
    onChange(listen) {
      listeners.add(listen);
      return () => void listeners.delete(listen);
    },
    tell(code) {
      current = code;
      for (const listen of listeners) listen();
    },
  };
}
