import { addresses } from "../address.ts";
import { Icon } from "../parts/index.ts";
import type { SummaryReply } from "../../api/shape/overview.ts";
import { numberText, type CountReply } from "../language/number.ts";
import type { JobState } from "../jobs/state.ts";
import { durationText } from "../time.ts";
import { words } from "../language/words.ts";

/** Live jobs by what they wait for now, ended ones over the last hour. Each is the door to its list. */
export const StateCards = ({ summary }: { readonly summary: SummaryReply }) => (
  <ul class="cards">
    {[...liveCards(summary), ...endedCards(summary)].map(({ look, name, value, about, href }) => (
      <li key={name}>
        <a class={`stat state-${look.toLowerCase()}`} href={href}>
          <span class="stat-name">
            <Icon name={look} size={13} />
            {name}
          </span>
          <span class="stat-value">{numberText(value)}</span>
          <span class="one-line stat-about">{about}</span>
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
  readonly href: string;
}

const notStarted = "state:pending,queued,retry_wait";

function liveCards({ live, workers }: SummaryReply): readonly Card[] {
  const { overview: said, phases, lanes } = words;
  const names = { ...lanes.columns, ...phases };
  const card = (name: "scheduled" | "waiting" | "held", look: JobState, about: string, href: string): Card => {
    const value = { count: live[name], isMore: live.atLeast.some((each) => each === name) };
    return { look, name: names[name], value, about, href };
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
      href: addresses.jobsWith("state:running"),
    },
  ];
}

function endedCards({ lastHour, deadLetters }: SummaryReply): readonly Card[] {
  const { inHour, countInHour } = words.overview;
  const card = (look: JobState, value: number | CountReply, about: string): Card => ({
    look,
    name: words.states[look],
    value,
    about,
    href: addresses.jobsWith(`state:${look.toLowerCase()}`),
  });
  return [
    card("SUCCESS", lastHour.succeeded, inHour),
    card("FAILED", deadLetters, countInHour(lastHour.failed)),
    card("CANCELED", lastHour.canceled, inHour),
    card("SKIPPED", lastHour.skipped, inHour),
  ];
}
