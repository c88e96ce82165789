import { Tag } from "../parts/tag.tsx";
import type { ShownOccurrence, ShownSchedule } from "../shape.ts";
import { duration } from "../time.ts";

/** Its next time came this long ago and nothing was decided: something is wrong. */
const lateMs = 90_000;

export const isLate = ({ enabled, paused, nextAt }: ShownSchedule, now: number): boolean =>
  enabled && !paused && nextAt !== null && Date.parse(nextAt) < now - lateMs;

export function scheduleStatus(schedule: ShownSchedule, now: number) {
  if (!schedule.enabled) return <Tag icon="CANCELED" tone="dim" text="Off in this stage" />;
  if (schedule.paused) return <Tag icon="pause" tone="warn" text="Paused" />;
  if (isLate(schedule, now)) return <Tag icon="warning" tone="bad" text="Late" />;
  if (schedule.nextAt === null) return <Tag icon="CANCELED" tone="dim" text="Ended" />;
  return <Tag icon="SUCCESS" tone="good" text="Active" />;
}

/** The middle of what was measured lately. */
export function latenessText(occurrences: readonly ShownOccurrence[]): string {
  const measured = occurrences
    .flatMap(({ latenessMs }) => (latenessMs === null ? [] : [latenessMs]))
    .toSorted((a, b) => a - b);
  const middle = measured[Math.floor(measured.length / 2)];
  return middle === undefined ? "–" : duration(middle);
}
