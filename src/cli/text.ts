import type { JobDetailReply, JobReply } from "../api/shape/job.ts";
import { type Output, printable } from "./output.ts";
import { spanText, wallTimeIn } from "./times.ts";
import { wrongUsage } from "./exit.ts";

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
    ["joined", job.joined === null ? null : `${amountOf(job.joined, "call")}; due at the latest ${job.dueAtMost}`],
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
  return ["", out.table(["ATTEMPT", "STARTED", "TOOK", "OUTCOME", "ERROR", "WORKER"], rows)];
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

export const amountOf = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

type Time = Output["time"];
type Column = (job: JobReply, time: Time) => string;

const columns: Readonly<Record<string, Column>> = {
  id: (job) => job.id,
  kind: (job) => job.kind,
  state: (job) => job.state,
  phase: (job) => job.phase,
  due: (job, time) => time(job.dueAt),
  created: (job, time) => time(job.createdAt),
  started: (job, time) => time(job.startedAt),
  finished: (job, time) => time(job.finishedAt),
  took: ({ startedAt, finishedAt }) =>
    startedAt === null || finishedAt === null
      ? ""
      : spanText(Math.max(0, Date.parse(finishedAt) - Date.parse(startedAt))),
  failures: (job) => `${job.failures} of ${job.maxAttempts}`,
  key: (job) => job.key ?? "",
  lane: (job) => job.lane,
  run: (job) => job.run ?? "",
  task: (job) => job.task ?? "",
  schedule: (job) => job.schedule ?? "",
  worker: (job) => job.worker ?? "",
  error: (job) =>
    job.error === null ? "" : [job.error.code, job.error.message ?? ""].filter((text) => text !== "").join(": "),
};

export const columnNames: readonly string[] = Object.keys(columns);
export const usualColumns = ["id", "kind", "state", "due", "took", "error"];

/** @throws CliError for a column that does not exist. */
export function jobTable(
  jobs: readonly JobReply[],
  names: readonly string[],
  time: Time,
): readonly [head: readonly string[], rows: readonly (readonly string[])[]] {
  const unknown = names.find((name) => !Object.hasOwn(columns, name));
  if (unknown !== undefined) {
    const message = `there is no column ${JSON.stringify(unknown)}: there are ${columnNames.join(", ")}`;
    throw wrongUsage("unknown-column", message);
  }
  return [
    names.map((name) => name.toUpperCase()),
    jobs.map((job) => names.map((name) => columns[name]?.(job, time) ?? "")),
  ];
}

/** By the clock of a zone. @throws CliError for a zone that does not exist. */
export const timeIn =
  (zone: string): Time =>
  (instant) => {
    try {
      return instant === null ? "" : wallTimeIn(instant, zone);
    } catch {
      throw wrongUsage("bad-zone", `--tz is ${JSON.stringify(zone)}: write an IANA name like Asia/Seoul`);
    }
  };
