import { useLocation } from "preact-iso";
import { addresses } from "../address.ts";
import { loadRuns } from "../client.ts";
import { now } from "../clock.ts";
import { Empty } from "../parts/empty.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { Time } from "../parts/time.tsx";
import { TableHead } from "../parts/table-head.tsx";
import { useResource } from "../resource.ts";
import { RunProgress } from "../runs/progress.tsx";
import { RunStatus } from "../runs/status.tsx";
import type { ShownRun } from "../shape.ts";
import { durationText } from "../time.ts";
import { useTitle } from "../title.ts";

const filters: readonly { readonly name: string; readonly value: string }[] = [
  { name: "All", value: "" },
  { name: "Running", value: "RUNNING,CANCELING" },
  { name: "Failed", value: "FAILED" },
  { name: "Done", value: "DONE" },
  { name: "Canceled", value: "CANCELED" },
];

export function RunsScreen() {
  useTitle("Runs");
  const { query, route } = useLocation();
  const { state = "", before = "" } = query;
  const page = useResource(`runs ${state} ${before}`, (signal) =>
    loadRuns({ cursor: before === "" ? null : before, state }, signal),
  );
  const go = (fields: Record<string, string>): void => route(`${addresses.runs}?${new URLSearchParams(fields)}`);
  return (
    <>
      <header class="screen-head">
        <h1>Runs</h1>
        <Tabs label="State" among={filters} value={state} onChoose={(value) => go({ state: value })} />
      </header>
      <Loaded of={page}>
        {({ runs, nextCursor }) => (
          <>
            {runs.length === 0 ? <NoRuns isFiltered={state !== ""} /> : <RunTable runs={runs} />}
            {nextCursor === null ? null : (
              <button type="button" class="button" onClick={() => go({ state, before: nextCursor })}>
                Older runs
              </button>
            )}
          </>
        )}
      </Loaded>
    </>
  );
}

const NoRuns = ({ isFiltered }: { readonly isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title="No run is in this state" />
  ) : (
    <Empty title="No runs yet">
      <p>
        A run is the jobs of one graph or one fan-out. Define one with <code>defineGraph</code> or{" "}
        <code>defineFanOut</code>, and enqueue it.
      </p>
    </Empty>
  );

const RunTable = ({ runs }: { readonly runs: readonly ShownRun[] }) => (
  <div class="card">
    <table class="table">
      <TableHead columns={["State", "Run", "Key", "Progress", "Started", { name: "Took", isNumber: true }]} />
      <tbody>
        {runs.map((run) => (
          <tr key={run.id}>
            <td>
              <RunStatus state={run.state} />
            </td>
            <td>
              <a class="row-link" href={addresses.run(run.id)}>
                {run.kind} <span class="dim">{`#${run.id}`}</span>
              </a>
            </td>
            <td class="mono dim">{run.key}</td>
            <td>
              <RunProgress progress={run.progress} />
            </td>
            <td>
              <Time at={run.createdAt} />
            </td>
            <td class="number">
              {durationText(
                (run.finishedAt === null ? now.value : Date.parse(run.finishedAt)) - Date.parse(run.createdAt),
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
