import type { JobDetailReply } from "../api/shape/job.ts";
import type { Output } from "./output.ts";
import { printable } from "./printable.ts";
import { spanText } from "./times.ts";

/** One job for people. */
export function jobText(job: JobDetailReply, out: Output): string {
  const facts: [string, string | null][] = [
    ["job", job.id],
    ["kind", job.kind],
    ["key", job.key],
    ["state", job.phase === job.state.toLowerCase() ? job.state : `${job.state} (${job.phase})`],
    ["runs on", job.worker],
    ["failures", `${job.failures} of ${job.maxAttempts} (attempt ${job.attempt})`],
    ["schedule", job.schedule],
    ["due", job.dueAt],
    ["finished", job.finishedAt],
    ["payload", short(job.payload)],
    ["result", job.result === null ? null : short(job.result)],
    ["error", job.error === null ? null : `${job.error.code}: ${job.error.message ?? ""}`],
    ["trace", job.trace],
  ];
  const lines = facts.flatMap(([name, value]) => (value === null ? [] : [`${name.padEnd(9)} ${printable(value)}`]));
  return [...lines, ...attempts(job, out), ...events(job, out)].join("\n");
}

function attempts(job: JobDetailReply, out: Output): readonly string[] {
  if (job.attempts.length === 0) return [];
  const rows = job.attempts.map(({ attempt, startedAt, durationMs, outcome, worker, error }) => [
    String(attempt),
    out.time(startedAt),
    spanText(durationMs),
    outcome,
    error === null ? "" : `${error.code}: ${short(error.message)}`,
    worker,
  ]);
  return ["", out.table(["ATTEMPT", "STARTED", "TOOK", "STATE", "ERROR", "WORKER"], rows)];
}

function events(job: JobDetailReply, out: Output): readonly string[] {
  const rows = job.events.map(({ at, from, to, reason, caller }) => {
    return [out.time(at), from ?? "(new)", to, `${reason ?? ""}${caller === null ? "" : ` by ${caller}`}`];
  });
  return rows.length === 0 ? [] : ["", out.table(["AT", "FROM", "STATE", "REASON"], rows)];
}

function short(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}...` : text;
}

/** `1 job`, `2 jobs`. */
export const amountOf = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
