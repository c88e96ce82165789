import { Tag } from "../parts/tag.tsx";
import { Time } from "../parts/time.tsx";
import type { ShownOutcome } from "../shape.ts";
import { durationText } from "../time.ts";

/** Its next time came this long ago and nothing was decided: something is wrong. */
const lateMs = 90_000;

type Standing = Pick<ShownOutcome, "enabled" | "paused" | "nextAt" | "looksAt" | "failingSince">;

const isLate = ({ enabled, paused, looksAt }: Standing, now: number): boolean =>
  enabled && !paused && looksAt !== null && Date.parse(looksAt) < now - lateMs;

export function scheduleStatus(schedule: Standing, now: number) {
  if (!schedule.enabled) return <Tag icon="CANCELED" tone="dim" text="Off in this stage" />;
  if (schedule.paused) return <Tag icon="pause" tone="warn" text="Paused" />;
  if (isLate(schedule, now)) return <Tag icon="warning" tone="bad" text="Late" />;
  if (schedule.failingSince !== null) return <Tag icon="FAILED" tone="bad" text="Failing" />;
  if (schedule.nextAt === null) return <Tag icon="CANCELED" tone="dim" text="Ended" />;
  return <Tag icon="SUCCESS" tone="good" text="Active" />;
}

type Ends = Pick<ShownOutcome, "failingSince" | "failingSinceIsMore" | "lastSuccessAt" | "timezone">;

/** Since when it fails, or when it succeeded last. */
export function EndsText({ failingSince, failingSinceIsMore, lastSuccessAt, timezone }: Ends) {
  if (failingSince !== null) {
    return (
      <span class="error-code">
        since {failingSinceIsMore ? "before " : ""}
        <Time at={failingSince} zone={timezone} />
      </span>
    );
  }
  if (lastSuccessAt === null) return <span class="dim">no success yet</span>;
  return (
    <span class="dim">
      last success <Time at={lastSuccessAt} zone={timezone} />
    </span>
  );
}

export const latenessText = ({ latenessMs }: Pick<ShownOutcome, "latenessMs">): string =>
  latenessMs === null ? "–" : durationText(latenessMs);

export const onTimeText = ({ onTimeShare }: Pick<ShownOutcome, "onTimeShare">): string =>
  onTimeShare === null ? "–" : `${Math.floor(onTimeShare * 100)} %`;
