/** A save of the project's code that cannot be used, so that the code before it runs on. */
export interface RejectedSave {
  /** From the project's folder. */
  readonly file: string;
  /** `file:line  what is wrong and how to fix it`, or all problems of the definitions. */
  readonly problem: string;
}

/** What became of the newest save, for the pages that are open. */
export interface Saves {
  /** Null while the newest one runs. */
  rejected(): RejectedSave | null;
  /** @returns what ends it. */
  onChange(listen: () => void): () => void;
}

export function keptSaves(): Saves & { reject(save: RejectedSave | null): void } {
  const listeners = new Set<() => void>();
  let current: RejectedSave | null = null;
  return {
    rejected: () => current,
    onChange(listen) {
      listeners.add(listen);
      return () => void listeners.delete(listen);
    },
    reject(save) {
      current = save;
      for (const listen of listeners) listen();
    },
  };
}
