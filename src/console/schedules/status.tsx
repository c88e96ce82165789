import { Tag, Time } from "../parts/index.ts";
import type { ScheduleOutcomeReply } from "../../api/shape/schedule-outcome.ts";
import { durationText } from "../time.ts";
import { follows } from "./plain-words.ts";
import { words } from "../language/words.ts";

/** Its next time came this long ago and nothing was decided: something is wrong. */
const lateMs = 90_000;

type Standing = Pick<ScheduleOutcomeReply, "enabled" | "expression" | "paused" | "nextAt" | "looksAt" | "failingSince">;

const isLate = ({ enabled, paused, looksAt }: Standing, now: number): boolean =>
  enabled && !paused && looksAt !== null && Date.parse(looksAt) < now - lateMs;

export function scheduleStatus(schedule: Standing, now: number) {
  if (!schedule.enabled) return <Tag icon="CANCELED" tone="dim" text={words.schedules.states.off} />;
  if (schedule.paused) return <Tag icon="pause" tone="warn" text={words.schedules.states.paused} />;
  if (isLate(schedule, now)) return <Tag icon="warning" tone="bad" text={words.schedules.states.late} />;
  if (schedule.failingSince !== null) return <Tag icon="FAILED" tone="bad" text={words.schedules.states.failing} />;
  if (schedule.nextAt === null && !follows(schedule.expression))
    return <Tag icon="CANCELED" tone="dim" text={words.schedules.states.ended} />;
  return <Tag icon="SUCCESS" tone="good" text={words.schedules.states.active} />;
}

type Ends = Pick<ScheduleOutcomeReply, "failingSince" | "failingSinceIsMore" | "lastSuccessAt" | "timezone">;

/** Since when it fails, or when it succeeded last. */
export function EndsText({ failingSince, failingSinceIsMore, lastSuccessAt, timezone }: Ends) {
  if (failingSince !== null) {
    const at = <Time at={failingSince} zone={timezone} />;
    return (
      <span class="error-code">{failingSinceIsMore ? words.schedules.sinceBefore(at) : words.schedules.since(at)}</span>
    );
  }
  if (lastSuccessAt === null) return <span class="dim">{words.schedules.noSuccess}</span>;
  return <span class="dim">{words.schedules.lastSuccess(<Time at={lastSuccessAt} zone={timezone} />)}</span>;
}

export const latenessText = ({ latenessMs }: Pick<ScheduleOutcomeReply, "latenessMs">): string =>
  latenessMs === null ? "–" : durationText(latenessMs);

export const onTimeText = ({ onTimeShare }: Pick<ScheduleOutcomeReply, "onTimeShare">): string =>
  onTimeShare === null ? "–" : `${Math.floor(onTimeShare * 100)} %`;
