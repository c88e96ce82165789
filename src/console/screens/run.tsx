import { useLocation, useRoute } from "preact-iso";
import { addresses } from "../address.ts";
import { loadRun, loadTasks, type RunTasks } from "../client.ts";
import { Empty } from "../parts/empty.tsx";
import { JsonView } from "../parts/json.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Time } from "../parts/time.tsx";
import { useResource } from "../resource.ts";
import { RunActions } from "../runs/actions.tsx";
import { Funnel } from "../runs/funnel.tsx";
import { TaskGraph } from "../runs/graph.tsx";
import { TaskGrid } from "../runs/grid.tsx";
import { RunProgress } from "../runs/progress.tsx";
import { RunStatus } from "../runs/status.tsx";
import type { ShownRun } from "../shape.ts";
import { useTitle } from "../title.ts";
import { counted } from "../words.ts";

/** Tasks beyond these are in the jobs list, filtered by the run. */
const tasksMax = 2_000;

const views = ["grid", "graph", "funnel", "input"] as const;
type View = (typeof views)[number];
const viewNames: Readonly<Record<View, string>> = { grid: "Grid", graph: "Graph", funnel: "Funnel", input: "Input" };

export function RunScreen() {
  const id = useRoute().params["id"] ?? "";
  const run = useResource(`run ${id}`, (signal) => loadRun(id, signal));
  return <Loaded of={run}>{(found) => <Found run={found} onDone={run.reload} />}</Loaded>;
}

function Found({ run, onDone }: { readonly run: ShownRun; readonly onDone: () => void }) {
  useTitle(`${run.kind} ${run.key}`);
  const tasks = useResource(`tasks ${run.id}`, (signal) => loadTasks(run.id, tasksMax, signal), {
    again: run.progress.total > 300 ? "slow" : "live",
  });
  return (
    <div class="fill">
      <header class="screen-head">
        <div>
          <p class="crumbs">
            <a href={addresses.runs}>Runs</a> / {run.kind}
          </p>
          <h1>
            {run.key} <span class="dim">{`#${run.id}`}</span>
          </h1>
        </div>
        <RunStatus state={run.state} />
        <RunProgress progress={run.progress} />
        <span class="space" />
        <RunActions run={run} onDone={onDone} />
      </header>
      <p class="dim">
        Version {run.version}, started <Time at={run.createdAt} />
        {run.finishedAt === null ? null : (
          <>
            , ended <Time at={run.finishedAt} />
          </>
        )}
        {run.parent === null ? null : (
          <>
            , again of{" "}
            <a class="link" href={addresses.run(run.parent)}>
              {`#${run.parent}`}
            </a>
          </>
        )}
        {run.starter === null ? null : (
          <>
            , started by job{" "}
            <a class="link" href={addresses.job(run.starter)}>
              {`#${run.starter}`}
            </a>
          </>
        )}
      </p>
      <Loaded of={tasks}>
        {(loaded) => (loaded.tasks.length === 0 ? <NoTasks run={run} /> : <Views run={run} tasks={loaded} />)}
      </Loaded>
    </div>
  );
}

const NoTasks = ({ run }: { readonly run: ShownRun }) =>
  run.finishedAt === null ? (
    <Empty title="Its jobs are being written">
      <p>They appear here as they are.</p>
    </Empty>
  ) : (
    <>
      <Empty title="There was nothing to do">
        <p>It ended without a job: what it was started for had no rows.</p>
      </Empty>
      <JsonView value={run.input} label="Input" />
    </>
  );

/** A fan-out has targets, which have no edges: it opens with its funnel. */
function Views({ run, tasks }: { readonly run: ShownRun; readonly tasks: RunTasks }) {
  const { query, path, route } = useLocation();
  const isFanOut = tasks.tasks.every(({ task }) => task === null);
  const offered = views.filter((each) => each !== (isFanOut ? "graph" : "funnel"));
  const view = offered.find((each) => each === query["view"]) ?? (isFanOut ? "funnel" : "grid");
  return (
    <>
      <div class="tabs" role="group" aria-label="View">
        {offered.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={each === view}
            onClick={() => route(`${path}?view=${each}`, true)}
          >
            {viewNames[each]}
          </button>
        ))}
      </div>
      {tasks.isMore ? (
        <p class="dim">
          {`The first ${counted(tasks.tasks.length)} are shown. `}
          <a class="link" href={addresses.jobsWith(`run:${run.id}`)}>
            All its jobs
          </a>
        </p>
      ) : null}
      {view === "grid" ? <TaskGrid tasks={tasks} /> : null}
      {view === "graph" ? <TaskGraph tasks={tasks} /> : null}
      {view === "funnel" ? <Funnel run={run} /> : null}
      {view === "input" ? <JsonView value={run.input} label="Input" /> : null}
    </>
  );
}
