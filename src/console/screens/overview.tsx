import { useState } from "preact/hooks";
import { addresses } from "../address.ts";
import { loadJobs, loadMinutes, loadSchedules, loadSummary } from "../client.ts";
import { currentTime } from "../clock.ts";
import { Attention } from "../overview/attention.tsx";
import { Feed } from "../overview/feed.tsx";
import { LastFailures } from "../overview/last-failures.tsx";
import { StateCards } from "../overview/state-cards.tsx";
import { Throughput } from "../overview/throughput.tsx";
import { Empty } from "../parts/empty.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { useResource } from "../resource.ts";
import type { ShownSchedule, ShownSummary } from "../shape.ts";
import { isLate } from "../schedules/status.tsx";
import { useTitle } from "../title.ts";

const failuresShown = 8;

/** How it stands at one look: what lives, what needs a person, what happened. */
export function OverviewScreen() {
  useTitle("Overview");
  const summary = useResource("summary", loadSummary);
  const schedules = useResource("late schedules", loadSchedules, { again: "slow" });
  return (
    <>
      <header class="screen-head">
        <h1>Overview</h1>
      </header>
      <Loaded of={summary}>
        {(found) =>
          isUntouched(found, schedules.data) ? (
            <Untouched />
          ) : (
            <Loaded of={schedules}>{(all) => <Standing summary={found} schedules={all} />}</Loaded>
          )
        }
      </Loaded>
    </>
  );
}

function Standing({
  summary,
  schedules,
}: {
  readonly summary: ShownSummary;
  readonly schedules: readonly ShownSchedule[];
}) {
  const [span, setSpan] = useState(60);
  const minutes = useResource(`minutes ${span}`, (signal) => loadMinutes(span, signal), { again: "slow" });
  const failures = useResource("last failures", (signal) =>
    loadJobs({ state: "FAILED" }, { cursor: null, limit: failuresShown }, signal),
  );
  const late = schedules.filter((each) => isLate(each, currentTime()));
  return (
    <>
      <Attention summary={summary} late={late} />
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

/** Nothing was ever defined or run. */
const isUntouched = (
  { live, deadLetters, lastHour }: ShownSummary,
  schedules: readonly ShownSchedule[] | null,
): boolean => schedules?.length === 0 && live.total === 0 && deadLetters.count === 0 && lastHour.created === 0;

const Untouched = () => (
  <Empty title="Nothing has run yet">
    <p>Enqueue a job, and watch it appear here:</p>
    <pre class="command">npx belfry jobs enqueue hello</pre>
    <p>
      Or add a schedule in <code>jobs/hello.ts</code>. Once it runs, its{" "}
      <a class="link" href={addresses.jobs}>
        jobs
      </a>{" "}
      are listed.
    </p>
  </Empty>
);
