import { addresses } from "../address.ts";
import { Icon } from "../parts/index.ts";
import type { SummaryReply } from "../../api/shape/overview.ts";
import { numberText, type CountReply } from "../language/number.ts";
import { notStarted } from "../jobs/state-tabs.tsx";
import { heldLook, type Look, lookOf } from "../jobs/phase.ts";
import type { JobState } from "../jobs/state.ts";
import { durationText } from "../time.ts";
import { words } from "../language/words.ts";

/** Live jobs by what they wait for now, ended ones over the last hour. Each is the door to its list. */
export const StateCards = ({ summary }: { readonly summary: SummaryReply }) => (
  <ul class="cards">
    {[...liveCards(summary), ...endedCards(summary)].map(({ look: { state, icon, text }, value, about, href }) => (
      <li key={text}>
        <a class={`stat state-${state.toLowerCase()}`} href={href}>
          <span class="stat-name">
            <Icon name={icon} size={13} />
            {text}
          </span>
          <span class="stat-value">{numberText(value)}</span>
          <span class="one-line stat-about">{about}</span>
        </a>
      </li>
    ))}
  </ul>
);

interface Card {
  readonly look: Look;
  readonly value: number | CountReply;
  readonly about: string;
  readonly href: string;
}

function liveCards({ live, workers }: SummaryReply): readonly Card[] {
  const { overview: said, lanes } = words;
  const card = (of: "scheduled" | "waiting" | "held", look: Look, about: string, terms: string): Card => {
    const value = { count: live[of], isMore: live.atLeast.some((each) => each === of) };
    return { look, value, about, href: addresses.jobsWith(`${notStarted} ${terms}`) };
  };
  const oldest = live.oldestWaitingMs === null ? said.noneDue : said.oldest(durationText(live.oldestWaitingMs));
  return [
    card("scheduled", lookOf("PENDING"), said.waitForTime, "due:>0s held:no"),
    card("waiting", lookOf("QUEUED"), oldest, "due:past held:no"),
    card("held", heldLook(lanes.columns.held), said.heldBy, "held:yes"),
    {
      look: lookOf("RUNNING"),
      value: { count: live.byState.RUNNING, isMore: live.atLeast.some((each) => each === "RUNNING") },
      about: workers.busy === 0 ? said.noneNow : said.onWorkers(workers.busy),
      href: addresses.jobsWith("state:running"),
    },
  ];
}

function endedCards({ lastHour, deadLetters }: SummaryReply): readonly Card[] {
  const { inHour, countInHour } = words.overview;
  const card = (state: JobState, value: number | CountReply, about: string): Card => {
    const ended = about === inHour ? " ended:<1h" : "";
    return { look: lookOf(state), value, about, href: addresses.jobsWith(`state:${state.toLowerCase()}${ended}`) };
  };
  return [
    card("SUCCESS", lastHour.succeeded, inHour),
    card("FAILED", deadLetters, countInHour(lastHour.failed)),
    card("CANCELED", lastHour.canceled, inHour),
    card("SKIPPED", lastHour.skipped, inHour),
  ];
}
