import type { JobDefinition } from "../core/define/definition.ts";
import type { Clock } from "../core/ports/ports.ts";
import { operationsLimits } from "../core/ports/operations-limits.ts";
import type { Secrecy } from "../core/ports/secrecy.ts";
import { type SensitiveKinds, sensitiveKinds } from "./sensitive.ts";

/** Throws what the store throws: without the marks of earlier releases it is not known what is hidden. */
export type Marks = () => Promise<SensitiveKinds>;

/** The marks of these definitions and of all releases before, as they are or were a few seconds ago. */
export function createMarks(
  definitions: Iterable<JobDefinition>,
  { secrecy, clock }: { readonly secrecy: Pick<Secrecy, "keptMarks">; readonly clock: Pick<Clock, "elapsedMs"> },
): Marks {
  const own = sensitiveKinds(definitions);
  let read: { readonly atMs: number; readonly kinds: Promise<SensitiveKinds> } | null = null;
  return async () => {
    const atMs = clock.elapsedMs();
    if (read === null || atMs - read.atMs >= operationsLimits.marksKnownMs) {
      read = { atMs, kinds: secrecy.keptMarks().then((kept) => own.with(kept)) };
    }
    const { kinds } = read;
    try {
      return await kinds;
    } catch (error) {
      if (read?.kinds === kinds) read = null;
      throw error;
    }
  };
}
