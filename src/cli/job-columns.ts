import type { JobReply } from "../api/shape/job.ts";
import { CliError, exitCodes } from "./exit.ts";
import type { Output } from "./output.ts";
import { spanText, wallTimeIn } from "./times.ts";

type Time = Output["time"];
type Column = (job: JobReply, time: Time) => string;

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
  time: Time,
): readonly [head: readonly string[], rows: readonly (readonly string[])[]] {
  const unknown = names.find((name) => !Object.hasOwn(columns, name));
  if (unknown !== undefined) {
    const message = `there is no column ${JSON.stringify(unknown)}: there are ${columnNames.join(", ")}`;
    throw new CliError(exitCodes.usage, "unknown-column", message);
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
      throw new CliError(
        exitCodes.usage,
        "bad-zone",
        `--tz is ${JSON.stringify(zone)}: write an IANA name like Asia/Seoul`,
      );
    }
  };
