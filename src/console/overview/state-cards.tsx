import { addresses } from "../address.ts";
import { currentTime } from "../clock.ts";
import { Icon } from "../parts/icon.tsx";
import { type ShownCount, type ShownMinute, type JobState, type ShownSummary, jobStates } from "../shape.ts";
import { durationText } from "../time.ts";
import { Sparkline } from "./sparkline.tsx";
import { words } from "../language/words.ts";
import { counted } from "../language/number.ts";

interface StateCardsProps {
  readonly summary: ShownSummary;
  readonly minutes: readonly ShownMinute[];
}

/** Living states as they are now, ended ones over the last hour. Each is the door to its list. */
export const StateCards = ({ summary, minutes }: StateCardsProps) => (
  <ul class="cards">
    {jobStates.map((state) => {
      const { value, about, series } = cardOf(state, summary, minutes);
      return (
        <li key={state}>
          <a class={`stat state-${state.toLowerCase()}`} href={addresses.jobsWith(`state:${state.toLowerCase()}`)}>
            <span class="stat-name">
              <Icon name={state} size={13} />
              {words.states[state]}
            </span>
            <span class="stat-value">{counted(value)}</span>
            <span class="stat-about">{about}</span>
            {series === null ? null : <Sparkline values={series} />}
          </a>
        </li>
      );
    })}
  </ul>
);

/** One number for each of the last 60 minutes; nothing is said of minutes in which nothing happened. */
function lastHourOf(minutes: readonly ShownMinute[], of: (minute: ShownMinute) => number): readonly number[] {
  const last = Math.floor(currentTime() / 60_000);
  const known = new Map(minutes.map((minute) => [Math.floor(Date.parse(minute.at) / 60_000), of(minute)]));
  return Array.from({ length: 60 }, (_, index) => known.get(last - 59 + index) ?? 0);
}

interface Card {
  readonly value: number | ShownCount;
  readonly about: string;
  readonly series: readonly number[] | null;
}

function cardOf(
  state: JobState,
  { live, lastHour, deadLetters, workers }: ShownSummary,
  minutes: readonly ShownMinute[],
): Card {
  const now = (count: number, about: string): Card => {
    return { value: { count, isMore: live.atLeast.some((each) => each === state) }, about, series: null };
  };
  const hour = (value: number, of: (minute: ShownMinute) => number): Card => {
    return { value, about: words.overview.inHour, series: lastHourOf(minutes, of) };
  };
  switch (state) {
    case "PENDING":
      return now(live.byState.PENDING, live.held > 0 ? words.overview.held(live.held) : words.overview.waitForTime);
    case "QUEUED":
      return now(
        live.byState.QUEUED,
        live.oldestWaitingMs === null
          ? words.overview.noneDue
          : words.overview.oldest(durationText(live.oldestWaitingMs)),
      );
    case "RUNNING":
      return now(
        live.byState.RUNNING,
        workers.busy === 0 ? words.overview.noneNow : words.overview.onWorkers(workers.busy),
      );
    case "RETRY_WAIT":
      return now(live.byState.RETRY_WAIT, words.overview.countInHour(lastHour.retried));
    case "SUCCESS":
      return hour(lastHour.succeeded, (minute) => minute.succeeded);
    case "FAILED":
      return {
        value: deadLetters,
        about: words.overview.countInHour(lastHour.failed),
        series: lastHourOf(minutes, ({ failed }) => failed),
      };
    case "CANCELED":
      return hour(lastHour.canceled, (minute) => minute.canceled);
    case "SKIPPED":
      return hour(lastHour.skipped, (minute) => minute.skipped);
  }
}
