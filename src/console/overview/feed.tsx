import { addresses } from "../address.ts";
import { feed } from "../live.ts";
import { StateBadge } from "../parts/state-badge.tsx";
import { Time } from "../parts/time.tsx";
import { type JobState, jobStates } from "../shape.ts";

const shownRows = 18;

/** What happens right now: a system that works is seen to work. */
export const Feed = () => (
  <section class="card" aria-label="Live events">
    <header class="card-head">
      <h2>Live</h2>
      <span class="dim">as it happens</span>
    </header>
    {feed.value.length === 0 ? (
      <p class="card-empty">Nothing has happened yet: each change of a job appears here at once</p>
    ) : (
      <ol class="feed">
        {feed.value.slice(0, shownRows).map((change) => (
          <li key={change.id}>
            <Time at={change.at} />
            <a href={addresses.job(change.job)}>
              <span class="cut-text">{change.kind ?? "job"}</span>
              <span class="dim">{`#${change.job}`}</span>
            </a>
            {isState(change.to) ? <StateBadge state={change.to} /> : <span>{change.to}</span>}
          </li>
        ))}
      </ol>
    )}
  </section>
);

const isState = (word: string): word is JobState => jobStates.some((state) => state === word);
