import { addresses } from "../address.ts";
import type { Count } from "../language/number.ts";
import { Icon } from "../parts/index.ts";
import type { Standing } from "./standing.ts";
import { durationText } from "../time.ts";
import { words } from "../language/words.ts";

/** Something waits longer than this although it may start. */
const waitsLongMs = 60_000;

interface Matter {
  readonly text: string;
  readonly href: string;
}

/** One line: all is well, or what is not, each with the way to it. */
export function Attention({ found }: { readonly found: Standing }) {
  const matters = mattersOf(found);
  if (matters.length === 0) {
    return (
      <p class="attention good">
        <Icon name="SUCCESS" />
        <span>
          <strong>{words.overview.allIsWell}</strong> <span class="dim">{calmText(found)}</span>
        </span>
      </p>
    );
  }
  return (
    <div class="attention bad">
      <Icon name="warning" />
      <strong>{words.overview.needsAttention}</strong>
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
function troubleOf(
  { total, isMore, first }: Standing["schedules"]["failing"],
  state: string,
  one: (id: string) => string,
  many: (count: Count) => string,
): Matter | false {
  if (total === 0 || first === null) return false;
  return total === 1 && !isMore
    ? { text: one(first), href: addresses.schedule(first) }
    : { text: many({ count: total, isMore }), href: addresses.schedulesWith(`state:${state}`) };
}

function mattersOf({ live, deadLetters, lanes, workers, lastPass, schedules }: Standing): readonly Matter[] {
  const { failing, late, burning } = schedules;
  const waited = live.oldestWaitingMs ?? 0;
  const found: readonly (Matter | false)[] = [
    deadLetters.count > 0 && { text: words.many.deadLetter(deadLetters), href: addresses.deadLetters },
    troubleOf(failing, "failing", words.overview.scheduleFailed, words.overview.schedulesFailed),
    troubleOf(late, "late", words.overview.scheduleLate, words.overview.schedulesLate),
    burning.first !== null && {
      text: words.overview.schedulesBurn(burning.total, burning.first),
      href: addresses.schedule(burning.first),
    },
    waited > waitsLongMs && {
      text: words.overview.oldestWaited(durationText(waited)),
      href: addresses.jobsWith("state:pending,queued,retry_wait due:past"),
    },
    lastPass?.isLate === true && { text: words.overview.lastPass(durationText(lastPass.ageMs)), href: addresses.locks },
    workers.lost > 0 && { text: words.overview.workersLost(workers.lost), href: addresses.lanes },
    lanes.paused > 0 && { text: words.overview.lanesPaused(lanes.paused), href: `${addresses.lanes}#lanes` },
  ];
  return found.filter((each) => each !== false);
}

function calmText({ lastHour, live }: Standing): string {
  const mean = lastHour.meanRunMs === null ? "" : words.overview.onAverage(durationText(lastHour.meanRunMs));
  const done =
    lastHour.succeeded === 0 ? words.overview.nothingEnded : words.overview.doneInHour(lastHour.succeeded) + mean;
  return done + words.overview.scheduledAhead(live.scheduled);
}
