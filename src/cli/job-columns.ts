import type { JobReply } from "../api/shape/job.ts";
import { CliError, exitCodes } from "./exit.ts";
import { wallTimeIn, relativeTime, spanText } from "./times.ts";

export interface TimeStyle {
  /** Relative for people, else ISO 8601. */
  readonly isRelative: boolean;
  /** A wall clock instead. */
  readonly zone?: string | undefined;
  readonly nowMs: number;
}

type Column = (job: JobReply, time: (instant: string | null) => string) => string;

/** What `jobs list` can show of a job. */
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
  style: TimeStyle,
): { readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] } {
  const unknown = names.find((name) => !Object.hasOwn(columns, name));
  if (unknown !== undefined) {
    const message = `there is no column ${JSON.stringify(unknown)}: there are ${columnNames.join(", ")}`;
    throw new CliError(exitCodes.usage, "unknown-column", message);
  }
  const time = timeText(style);
  return {
    head: names.map((name) => name.toUpperCase()),
    rows: jobs.map((job) => names.map((name) => columns[name]?.(job, time) ?? "")),
  };
}

function timeText({ isRelative, zone, nowMs }: TimeStyle): (instant: string | null) => string {
  return (instant) => {
    if (instant === null) return "";
    if (zone !== undefined) return inZoneOr(instant, zone);
    return isRelative ? relativeTime(instant, nowMs) : instant;
  };
}

function inZoneOr(instant: string, zone: string): string {
  try {
    return wallTimeIn(instant, zone);
  } catch {
    throw new CliError(
      exitCodes.usage,
      "bad-zone",
      `--tz is ${JSON.stringify(zone)}: write an IANA name like Asia/Seoul`,
    );
  }
}
