import type { JobFact } from "../invariants/evidence.ts";
import type { Payload } from "./app.ts";

/** What the payload of a job says about who asked for it. */
export function labelsOf(payload: unknown): Pick<JobFact, "mark" | "parentId" | "parentAttempt"> {
  const { mark, parent, parentAttempt } = (payload ?? {}) as Partial<Payload>;
  return { mark: mark ?? null, parentId: parent ?? null, parentAttempt: parentAttempt ?? null };
}
