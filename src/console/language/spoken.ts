/** Stored values as people read them. One that has no words is shown as it is. */
import type { JobReply } from "../../api/shape/job.ts";
import { words } from "./words.ts";

export function reasonText(reason: string | null): string {
  if (reason === null) return "";
  const merged = /^into (\S+)T(\S+)$/.exec(reason);
  if (merged !== null) return words.mergedInto(merged[1] ?? "", merged[2] ?? "");
  const known: Readonly<Record<string, string>> = words.reasons;
  return known[reason] ?? reason.replaceAll("-", " ");
}

/** What became of a time; null where the API's sentence says it. */
export function verdictText(verdict: string, localTime: string): string | null {
  const [, reason = null] = /^skipped-(.*)$/.exec(verdict) ?? [];
  const text = words.verdicts?.[reason === null ? verdict : "skipped"];
  return text?.replace("{time}", localTime.replace("T", " ")).replace("{reason}", reasonText(reason)) ?? null;
}

/** How many attempts there were, and how many failures of those it may have. */
export function attemptsText({
  attempt,
  failures,
  maxAttempts,
}: Pick<JobReply, "attempt" | "failures" | "maxAttempts">): string {
  if (attempt === 0) return words.job.noAttempt(maxAttempts);
  return failures === 0 ? words.job.noFailure(attempt) : words.job.failures(attempt, failures, maxAttempts);
}
