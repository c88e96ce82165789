import { addresses } from "../address.ts";
import { Icon } from "../parts/icon.tsx";
import type { ShownSummary } from "../shape.ts";
import { durationText } from "../time.ts";
import { counted, plural } from "../words.ts";

interface Troubled {
  readonly total: number;
  /** The id of one of them. */
  readonly first: string | null;
}

export interface TroubledSchedules {
  /** Their last job or run failed. */
  readonly failing: Troubled;
  /** Their time is past and nothing was decided. */
  readonly late: Troubled;
}

interface AttentionProps {
  readonly summary: ShownSummary;
  readonly schedules: TroubledSchedules;
}

/** Something waits longer than this although it may start. */
const waitsLongMs = 60_000;

interface Matter {
  readonly text: string;
  readonly href: string;
}

/** One line: all is well, or what is not, each with the way to it. */
export function Attention({ summary, schedules }: AttentionProps) {
  const matters = mattersOf(summary, schedules);
  if (matters.length === 0) {
    return (
      <p class="attention good">
        <Icon name="SUCCESS" />
        <span>
          <strong>All is well.</strong> <span class="dim">{calmText(summary)}</span>
        </span>
      </p>
    );
  }
  return (
    <div class="attention bad">
      <Icon name="warning" />
      <strong>Needs attention</strong>
      <ul>
        {matters.map(({ text, href }) => (
          <li key={href}>
            <a href={href}>{text}</a>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** One by its name, several by their number, with the list that shows them. */
function troubleOf({ total, first }: Troubled, state: string, [one, many]: readonly [string, string]): Matter | false {
  if (total === 0 || first === null) return false;
  return total === 1
    ? { text: `Schedule ${first} ${one}`, href: addresses.schedule(first) }
    : { text: `${counted(total)} schedules ${many}`, href: addresses.schedulesWith(`state:${state}`) };
}

function mattersOf(
  { live, deadLetters, lanes, workers, lastPass }: ShownSummary,
  { failing, late }: TroubledSchedules,
): readonly Matter[] {
  const waited = live.oldestWaitingMs ?? 0;
  const found: readonly (Matter | false)[] = [
    deadLetters.count > 0 && {
      text: plural(deadLetters, "dead letter"),
      href: addresses.deadLetters,
    },
    troubleOf(failing, "failing", ["failed its last run", "whose last run failed"]),
    troubleOf(late, "late", ["is late", "are late"]),
    waited > waitsLongMs && {
      text: `The oldest due job has waited ${durationText(waited)}`,
      href: addresses.jobsWith("state:pending,queued,retry_wait due:past"),
    },
    lastPass?.isLate === true && {
      text: `The scheduler made its last pass ${durationText(lastPass.ageMs)} ago`,
      href: addresses.locks,
    },
    workers.lost > 0 && { text: `${plural(workers.lost, "worker")} lost`, href: addresses.lanes },
    lanes.paused > 0 && { text: `${plural(lanes.paused, "lane")} paused`, href: `${addresses.lanes}#lanes` },
  ];
  return found.filter((each) => each !== false);
}

function calmText({ lastHour, live }: ShownSummary): string {
  const mean = lastHour.meanRunMs === null ? "" : `, ${durationText(lastHour.meanRunMs)} each on average`;
  const done =
    lastHour.succeeded === 0
      ? "Nothing ended in the last hour"
      : `${counted(lastHour.succeeded)} done in the last hour${mean}`;
  return `${done}; ${counted(live.scheduled)} scheduled ahead.`;
}
