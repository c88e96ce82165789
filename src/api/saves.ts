/** A save of the project's code that cannot be used, so that the code before it runs on. */
export interface RejectedSave {
  /** Its name. */
  readonly file: string;
  /** `file:line  what is wrong and how to fix it`, or all problems of the definitions. */
  readonly problem: string;
  readonly at: string;
}

/** Which of the project's code runs in a local system. */
export interface RunningCode {
  /** Twelve digits of a hash of its modules. */
  readonly version: string;
  readonly since: string;
  /** What runs it, for people: `scheduler`, `API`, `lane default`. */
  readonly parts: readonly string[];
  /** Whose schedules, limits and tables are installed: another version's, when its processes did not come up. */
  readonly definitions: { readonly version: string; readonly since: string };
  /** The newest save, while it cannot be used. */
  readonly refused: RejectedSave | null;
}

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
