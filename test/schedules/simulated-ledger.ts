import type { TestSystem } from "belfry/testing";
import { simulate } from "../../src/schedule/simulate.ts";
import type { ScheduleSpec } from "../../src/machine/schedule.ts";

interface Span {
  readonly from: number;
  readonly to: number;
}

/** What is compared: all of a row but how it went. */
interface Row {
  readonly line: string;
  readonly at: number;
}

const dayMs = 86_400_000;
const line = (...parts: readonly (string | number | null | undefined)[]): string =>
  parts.map((part) => part ?? "").join(" ");

/** Rows of times in `(from, to]` that a simulation of a day more names, as jobs that take no time. */
export const simulatedRows = (specs: readonly ScheduleSpec[], { from, to }: Span): readonly Row[] =>
  simulate(specs, { from: from - dayMs, to: to + dayMs, timesMax: 100_000, runMs: () => 0 })
    .filter(({ time }) => time.instant > from && time.instant <= to)
    .map(({ spec, time, outcome, reason, dueAt }) => {
      const effective = spec.spread === undefined || dueAt === null ? null : time.instant + spec.spread.offsetMs;
      const place = [spec.id, time.localTime, time.fold, time.timezone ?? spec.timezone, time.instant, effective];
      return { line: line(...place, outcome, reason, time.calendar), at: time.instant };
    })
    .toSorted(byLine);

/** The same of the ledger. A time that started a job was PLANNED. */
export async function ledgerRows(database: TestSystem["database"], { from, to }: Span): Promise<readonly Row[]> {
  const { rows } = await database.query<{ place: readonly (string | null)[]; at: string }>(
    `select array[schedule_id, local_time, fold::text, timezone, belfry.ms(nominal_at)::bigint::text,
       belfry.ms(effective_at)::bigint::text, case when outcome in ('FIRED', 'CAUGHT_UP') then 'PLANNED' else outcome::text end,
       reason, calendar] as place, belfry.ms(nominal_at) as at
     from belfry.occurrence where nominal_at > $1 and nominal_at <= $2`,
    [new Date(from), new Date(to)],
  );
  return rows.map(({ place, at }) => ({ line: line(...place), at: Number(at) })).toSorted(byLine);
}

const byLine = (a: Row, b: Row): number => (a.line < b.line ? -1 : 1);
