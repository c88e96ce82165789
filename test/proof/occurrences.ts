import type { Checklist } from "./proof.ts";
import type { Tables } from "./tables.ts";

export const everyMs = 1_000;

/** Jobs that are due, or nearly, and have not ended. */
export const unfinished = "belfry.job where state < 'SUCCESS' and due_at <= belfry.now() + interval '2 s'";

/** The schedule of `app/scheduled.ts` fires every second: one occurrence for each, all of them fired. */
export function assessEverySecond(list: Checklist, { occurrences, now }: Tables, installedAt: number): void {
  const times = occurrences.map((row) => row.nominalAt);
  const [first = 0] = times;
  const last = times.at(-1) ?? 0;
  const gaps = times.filter((time, index) => index > 0 && time - (times[index - 1] ?? 0) !== everyMs);
  list.expectNone("one occurrence for every second, none twice (C8)", gaps, (time) => new Date(time).toISOString());
  const lateMs = first - installedAt;
  list.expect("the first nominal time is that of the install", lateMs <= 2 * everyMs, `${lateMs} ms later`);
  list.expect("the last nominal time is that of now", now - last <= 3 * everyMs, `${now - last} ms ago`);
  const odd = occurrences.filter((row) => row.outcome !== "FIRED" && row.outcome !== "CAUGHT_UP");
  list.expectNone(
    "every occurrence fired",
    odd,
    (row) => `${new Date(row.nominalAt).toISOString()} ${row.outcome} ${row.reason}`,
  );
}
