import { addresses } from "../address.ts";
import { currentTime } from "../clock.ts";
import { Icon } from "../parts/index.ts";
import type { SummaryReply } from "../../api/shape/overview.ts";
import type { ThroughputMinute } from "../client.ts";
import { numberText, type CountReply } from "../language/number.ts";
import type { JobState } from "../jobs/state.ts";
import { durationText } from "../time.ts";
import { Sparkline } from "./sparkline.tsx";
import { words } from "../language/words.ts";

interface StateCardsProps {
  readonly summary: SummaryReply;
  readonly minutes: readonly ThroughputMinute[];
}

/** Live jobs by what they wait for now, ended ones over the last hour. Each is the door to its list. */
export const StateCards = ({ summary, minutes }: StateCardsProps) => (
  <ul class="cards">
    {[...liveCards(summary), ...endedCards(summary, minutes)].map(({ look, name, value, about, series, href }) => (
      <li key={name}>
        <a class={`stat state-${look.toLowerCase()}`} href={href}>
          <span class="stat-name">
            <Icon name={look} size={13} />
            {name}
          </span>
          <span class="stat-value">{numberText(value)}</span>
          <span class="one-line stat-about">{about}</span>
          {series === null ? null : <Sparkline values={series} />}
        </a>
      </li>
    ))}
  </ul>
);

interface Card {
  /** Whose colour and shape it has. */
  readonly look: JobState;
  readonly name: string;
  readonly value: number | CountReply;
  readonly about: string;
  readonly series: readonly number[] | null;
  readonly href: string;
}

const notStarted = "state:pending,queued,retry_wait";

function liveCards({ live, workers }: SummaryReply): readonly Card[] {
  const { phases, ...said } = words.overview;
  const card = (name: "scheduled" | "waiting" | "held", look: JobState, about: string, href: string): Card => {
    const value = { count: live[name], isMore: live.atLeast.some((each) => each === name) };
    return { look, name: phases[name], value, about, series: null, href };
  };
  const isMore = live.atLeast.some((each) => each === "RUNNING");
  return [
    card("scheduled", "PENDING", said.waitForTime, addresses.jobsWith(`${notStarted} due:>0s held:no`)),
    card(
      "waiting",
      "QUEUED",
      live.oldestWaitingMs === null ? said.noneDue : said.oldest(durationText(live.oldestWaitingMs)),
      addresses.jobsWith(`${notStarted} due:past held:no`),
    ),
    card("held", "RETRY_WAIT", said.heldBy, addresses.jobsWith(`${notStarted} held:yes`)),
    {
      look: "RUNNING",
      name: words.states.RUNNING,
      value: { count: live.byState.RUNNING, isMore },
      about: workers.busy === 0 ? said.noneNow : said.onWorkers(workers.busy),
      series: null,
      href: addresses.jobsWith("state:running"),
    },
  ];
}

function endedCards({ lastHour, deadLetters }: SummaryReply, minutes: readonly ThroughputMinute[]): readonly Card[] {
  const { inHour, countInHour } = words.overview;
  const card = (
    look: JobState,
    value: number | CountReply,
    about: string,
    of: (minute: ThroughputMinute) => number,
  ): Card => {
    const href = addresses.jobsWith(`state:${look.toLowerCase()}`);
    return { look, name: words.states[look], value, about, series: lastHourOf(minutes, of), href };
  };
  return [
    card("SUCCESS", lastHour.succeeded, inHour, (minute) => minute.succeeded),
    card("FAILED", deadLetters, countInHour(lastHour.failed), (minute) => minute.failed),
    card("CANCELED", lastHour.canceled, inHour, (minute) => minute.canceled),
    card("SKIPPED", lastHour.skipped, inHour, (minute) => minute.skipped),
  ];
}

/** One number for each of the last 60 minutes; nothing is said of minutes in which nothing happened. */
function lastHourOf(minutes: readonly ThroughputMinute[], of: (minute: ThroughputMinute) => number): readonly number[] {
  const last = Math.floor(currentTime() / 60_000);
  const known = new Map(minutes.map((minute) => [Math.floor(Date.parse(minute.at) / 60_000), of(minute)]));
  return Array.from({ length: 60 }, (_, index) => known.get(last - 59 + index) ?? 0);
}
