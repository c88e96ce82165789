import { useState } from "preact/hooks";
import { addresses } from "../address.ts";
import { loadJobs, loadMinutes, loadScheduleOutcomes, loadSummary } from "../client.ts";
import { Attention, type TroubledSchedules } from "../overview/attention.tsx";
import { Feed } from "../overview/feed.tsx";
import { LastFailures } from "../overview/last-failures.tsx";
import { StateCards } from "../overview/state-cards.tsx";
import { Throughput } from "../overview/throughput.tsx";
import { Empty } from "../parts/empty.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { useResource } from "../resource.ts";
import type { ShownSummary } from "../shape.ts";
import { useTitle } from "../title.ts";
import { words } from "../language/words.ts";

const failuresShown = 8;

/** One of each by name, and how many there are. */
async function loadTroubled(signal: AbortSignal): Promise<TroubledSchedules> {
  const [failing, late] = await Promise.all(
    ["failing", "late"].map((state) => loadScheduleOutcomes({ state }, { limit: 1 }, signal)),
  );
  const of = (page: typeof failing) => ({ total: page?.total ?? 0, first: page?.schedules[0]?.id ?? null });
  return { failing: of(failing), late: of(late) };
}

/** How it stands at one look: what lives, what needs a person, what happened. */
export function OverviewScreen() {
  useTitle(words.overview.title);
  const summary = useResource("summary", loadSummary);
  const schedules = useResource("troubled-schedules", loadTroubled, { again: "slow" });
  return (
    <>
      <header class="screen-head">
        <h1>{words.overview.title}</h1>
      </header>
      <Loaded of={summary}>
        {(found) =>
          isUntouched(found) ? (
            <Untouched />
          ) : (
            <Loaded of={schedules}>{(troubled) => <Standing summary={found} schedules={troubled} />}</Loaded>
          )
        }
      </Loaded>
    </>
  );
}

function Standing({ summary, schedules }: { readonly summary: ShownSummary; readonly schedules: TroubledSchedules }) {
  const [span, setSpan] = useState(60);
  const minutes = useResource(`minutes ${span}`, (signal) => loadMinutes(span, signal), { again: "slow" });
  const failures = useResource("last-failures", (signal) =>
    loadJobs({ state: "FAILED" }, { cursor: null, limit: failuresShown }, signal),
  );
  return (
    <>
      <Attention summary={summary} schedules={schedules} />
      <StateCards summary={summary} minutes={minutes.data ?? []} />
      <div class="columns wide-left">
        <div>
          <Loaded of={minutes}>{(all) => <Throughput minutes={all} span={span} onSpan={setSpan} />}</Loaded>
          <Loaded of={failures}>{({ jobs }) => <LastFailures jobs={jobs} />}</Loaded>
        </div>
        <Feed />
      </div>
    </>
  );
}

/** Nothing has run in the last hour, and nothing waits or failed. */
const isUntouched = ({ live, deadLetters, lastHour }: ShownSummary): boolean =>
  live.total === 0 && deadLetters.count === 0 && lastHour.created === 0 && lastHour.succeeded === 0;

const Untouched = () => (
  <Empty title={words.overview.nothingRan}>
    <p>{words.overview.enqueue}</p>
    <pre class="command">npx belfry jobs enqueue hello</pre>
    <p>
      {words.overview.addSchedule(
        <code>jobs/</code>,
        <a class="link" href={addresses.jobs}>
          {words.overview.jobsListed}
        </a>,
      )}
    </p>
  </Empty>
);
