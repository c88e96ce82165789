import { ScheduleRefused } from "../schedule/schedule-refused.ts";
import { etagOf } from "./conditional.ts";
import { HttpProblem } from "./problem.ts";

/** @param quotes the kind whose stored payload the refusal may quote. */
export const problemOf = (
  { code, message, problems, version }: ScheduleRefused,
  quotes: string | null = null,
): HttpProblem =>
  new HttpProblem(code, message, {
    quotes,
    ...(version === null ? {} : { extra: { version }, headers: { etag: etagOf(version) } }),
    issues: problems.map(({ field, value, rule, fix }) => {
      return { path: field, message: `${value} ${rule}${fix === "" ? "" : `; ${fix}`}` };
    }),
  });

/**
 * @param quotes says the kind whose stored payload a refusal may quote.
 * @throws HttpProblem for what the schedule refuses.
 */
export async function withRefusals<T>(
  work: Promise<T>,
  quotes: () => Promise<string | null> = () => Promise.resolve(null),
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof ScheduleRefused ? problemOf(error, await quotes()) : error;
  }
}
