import { addresses } from "../address.ts";
import { feed } from "../live.ts";
import { Card, StateBadge, Time } from "../parts/index.ts";
import { type JobState, jobStates } from "../jobs/state.ts";
import { words } from "../language/words.ts";

const shownRows = 18;

/** What happens right now: a system that works is seen to work. */
export const Feed = () => (
  <Card title={words.shell.connection.live} label={words.overview.liveEvents} about={words.overview.asItHappens}>
    {feed.value.length === 0 ? (
      <p class="card-empty">{words.overview.nothingHappened}</p>
    ) : (
      <ol class="feed">
        {feed.value.slice(0, shownRows).map((change) => (
          <li key={change.job}>
            <Time at={change.at} />
            <a href={addresses.job(change.job)}>
              <span class="cut-text">{change.kind ?? words.shared.job}</span>
              <span class="dim">{`#${change.job}`}</span>
            </a>
            {isState(change.to) ? <StateBadge state={change.to} /> : <span>{change.to}</span>}
          </li>
        ))}
      </ol>
    )}
  </Card>
);

const isState = (word: string): word is JobState => jobStates.some((state) => state === word);
