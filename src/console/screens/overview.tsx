import { Empty, Link, Loaded, ScreenHead } from "../parts/index.ts";
import { addresses } from "../address.ts";
import { Attention } from "../overview/attention.tsx";
import { LastFailures } from "../overview/last-failures.tsx";
import { Night } from "../overview/night.tsx";
import { type Standing, useStanding } from "../overview/standing.ts";
import { StateCards } from "../overview/state-cards.tsx";
import { words } from "../language/words.ts";

/** How it stands at one look: what lives, what needs a person, what happened. */
export function OverviewScreen() {
  const standing = useStanding();
  return (
    <>
      <ScreenHead title={words.places.overview} />
      <Loaded of={standing}>
        {(found) =>
          isUntouched(found) ? (
            <Untouched />
          ) : (
            <>
              <Attention found={found} />
              <Night />
              <StateCards summary={found} />
              <LastFailures jobs={found.lastFailures} />
            </>
          )
        }
      </Loaded>
    </>
  );
}

/** Nothing has run in the last hour, and nothing waits or failed. */
const isUntouched = ({ live, deadLetters, lastHour }: Standing): boolean =>
  live.total === 0 && deadLetters.count === 0 && lastHour.created === 0 && lastHour.succeeded === 0;

const Untouched = () => (
  <Empty title={words.overview.nothingRan}>
    <p>{words.overview.enqueue}</p>
    <pre class="command">npx belfry jobs enqueue hello</pre>
    <p>
      {words.overview.addSchedule(<code>jobs/</code>, <Link to={addresses.jobs} text={words.overview.jobsListed} />)}
    </p>
  </Empty>
);
