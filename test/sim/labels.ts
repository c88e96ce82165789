import { followedRun, type JobFact } from "../invariants/evidence.ts";
import type { Payload } from "./app.ts";

type Labels = Pick<JobFact, "mark" | "parentId" | "parentAttempt" | "followsRun">;

/** What payload and key of a job say about who asked for it. */
export function labelsOf({ payload, key }: { readonly payload: unknown; readonly key: string | null }): Labels {
  const { mark, parent, parentAttempt } = (payload ?? {}) as Partial<Payload>;
  const parents = { parentId: parent ?? null, parentAttempt: parentAttempt ?? null };
  return { mark: mark ?? null, ...parents, followsRun: followedRun(key) };
}
