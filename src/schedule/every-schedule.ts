import { contractLimits } from "../machine/contract-limits.ts";
import type { Store } from "../machine/store.ts";
import type { ScheduleRow } from "../machine/schedule.ts";

/** All stored schedules by id, read in pages: differences to code must not end at the first one. */
export async function everySchedule(
  store: Pick<Store, "schedules">,
  pageRows: number = contractLimits.schedulesMax,
): Promise<readonly ScheduleRow[]> {
  const rows: ScheduleRow[] = [];
  for (;;) {
    const page = await store.schedules({ limit: pageRows, after: rows.at(-1)?.id });
    rows.push(...page);
    if (page.length < pageRows) return rows;
  }
}
