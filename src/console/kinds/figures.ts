import type { KindFigureListReply } from "../../insight/kind-figures.ts";
import { durationText } from "../time.ts";
import { words } from "../language/words.ts";

export type KindRow = KindFigureListReply["kinds"][number];
export type Figures = KindRow["now"];

/** `55 ms · 63 ms · 64 ms` */
export const percentilesText = ({ p50, p95, p99 }: NonNullable<Figures["runningMs"]>): string =>
  [p50, p95, p99].map(durationText).join(" · ");

/** Null where nothing ended. */
export const failedShare = ({ failed, ended }: Figures): number | null => (ended === 0 ? null : failed / ended);

/** A click on a column's name sorts by another figure. */
export const slowestFirst = (rows: readonly KindRow[]): readonly KindRow[] =>
  rows.toSorted((a, b) => (b.now.runningMs?.p95 ?? -1) - (a.now.runningMs?.p95 ?? -1) || b.now.ended - a.now.ended);

export interface Trend {
  readonly text: string;
  readonly tone: "worse" | "better" | "same";
}

/** A change by less than a tenth says nothing: buckets are wider than that. */
const same = 0.1;

/** How a duration changed; null where one of the two periods has none. */
export function durationTrend(now: number | undefined, before: number | undefined): Trend | null {
  if (now === undefined || before === undefined) return null;
  const change = before === 0 ? (now === 0 ? 0 : 1) : now / before - 1;
  if (Math.abs(change) < same) return { text: words.kinds.same, tone: "same" };
  const text =
    change > 9
      ? words.kinds.timesMore(Math.round(change + 1))
      : `${change > 0 ? "+" : ""}${Math.round(change * 100)} %`;
  return { text, tone: change > 0 ? "worse" : "better" };
}

/** How the share of failures changed, in points of a percent. */
export function shareTrend(now: Figures, before: Figures): Trend | null {
  const [share, was] = [failedShare(now), failedShare(before)];
  if (share === null || was === null) return null;
  const points = Math.round((share - was) * 1_000) / 10;
  if (points === 0) return { text: words.kinds.same, tone: "same" };
  return { text: words.kinds.points(points), tone: points > 0 ? "worse" : "better" };
}
