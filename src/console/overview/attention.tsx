import { addresses } from "../address.ts";
import { Icon } from "../parts/icon.tsx";
import type { ShownSchedule, ShownSummary } from "../shape.ts";
import { duration } from "../time.ts";
import { counted, plural } from "../words.ts";

interface AttentionProps {
  readonly summary: ShownSummary;
  readonly late: readonly ShownSchedule[];
}

/** Something waits longer than this although it may start. */
const waitsLongMs = 60_000;

interface Matter {
  readonly text: string;
  readonly href: string;
}

/** One line: all is well, or what is not, each with the way to it. */
export function Attention({ summary, late }: AttentionProps) {
  const matters = mattersOf(summary, late);
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
      <strong>Needs a person</strong>
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

function mattersOf(
  { live, deadLetters, lanes, workers }: ShownSummary,
  late: readonly ShownSchedule[],
): readonly Matter[] {
  const waited = live.oldestWaitingMs ?? 0;
  const [first] = late;
  const found: readonly (Matter | false)[] = [
    deadLetters.count > 0 && {
      text: plural(deadLetters, "dead letter"),
      href: addresses.deadLetters,
    },
    first !== undefined && {
      text: late.length === 1 ? `Schedule ${first.id} is late` : `${late.length} schedules are late`,
      href: late.length === 1 ? addresses.schedule(first.id) : addresses.schedules,
    },
    waited > waitsLongMs && {
      text: `The oldest due job has waited ${duration(waited)}`,
      href: addresses.jobsWith("state:pending,queued,retry_wait due:past"),
    },
    workers.lost > 0 && { text: `${plural(workers.lost, "worker")} lost`, href: addresses.lanes },
    lanes.paused > 0 && { text: `${plural(lanes.paused, "lane")} paused`, href: `${addresses.lanes}#lanes` },
  ];
  return found.filter((each) => each !== false);
}

function calmText({ lastHour, live }: ShownSummary): string {
  const mean = lastHour.meanRunMs === null ? "" : `, ${duration(lastHour.meanRunMs)} each on average`;
  const done =
    lastHour.succeeded === 0
      ? "Nothing ended in the last hour"
      : `${counted(lastHour.succeeded)} done in the last hour${mean}`;
  return `${done}; ${counted(live.scheduled)} scheduled ahead.`;
}
