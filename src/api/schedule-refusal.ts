import { ScheduleRefused } from "../core/scheduler/schedule-refused.ts";
import { etagOf } from "./conditional.ts";
import { HttpProblem } from "./problem.ts";

export const problemOf = ({ code, message, problems, version }: ScheduleRefused): HttpProblem =>
  new HttpProblem(code, message, {
    ...(version === null ? {} : { extra: { version }, headers: { etag: etagOf(version) } }),
    issues: problems.map(({ field, value, rule, fix }) => {
      return { path: field, message: `${value} ${rule}${fix === "" ? "" : `; ${fix}`}` };
    }),
  });

/** @throws HttpProblem for what the schedule refuses. */
export async function answered<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof ScheduleRefused ? problemOf(error) : error;
  }
}
