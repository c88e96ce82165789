import { Audits, Button, Empty, JobLink, JsonView, Link, Loaded, ScreenHead, Tabs, Time } from "../parts/index.ts";
import { useLocation, useRoute } from "preact-iso";
import { addresses } from "../address.ts";
import { ask } from "../http.ts";
import { useMemo, useRef, useState } from "preact/hooks";
import { slowChanges } from "../live.ts";
import { useResource } from "../resource.ts";
import { RunActions } from "../runs/actions.tsx";
import { Funnel } from "../runs/funnel.tsx";
import { TaskGraph } from "../runs/graph.tsx";
import { TaskGrid } from "../runs/grid.tsx";
import { RunMatrix } from "../runs/matrix.tsx";
import { FailedList } from "../runs/failed-list.tsx";
import { type LoadedMap, listedTasks, loadedMap, type TaskSet } from "../runs/run-map.ts";
import { TaskBar } from "../runs/task-bar.tsx";
import { RunProgress } from "../runs/progress.tsx";
import { RunStatus } from "../runs/status.tsx";
import { scheduleCrumbs } from "../schedules/crumbs.tsx";
import type { RunReply } from "../../api/shape/run.ts";
import { words } from "../language/words.ts";

const views = ["grid", "graph", "funnel", "matrix", "input"] as const;
type View = (typeof views)[number];

export function RunScreen() {
  const id = useRoute().params["id"] ?? "";
  const found = useRun(id);
  return <Loaded of={found}>{({ run, map }) => <Found run={run} map={map} onDone={found.reload} />}</Loaded>;
}

/** The tasks of a larger run are asked for less often than its progress. */
const tasksLiveMax = 300;

/** One request a refresh: the tasks of a large run come along when the slow changes ask for it, and are kept in between. */
function useRun(id: string) {
  const own = useRef<{ asked: string; map: LoadedMap } | null>(null);
  return useResource(`run ${id}`, async (signal) => {
    const asked = `${id} ${slowChanges.value}`;
    const kept = own.current;
    if (kept !== null && kept.asked === asked && kept.map.run.progress.total > tasksLiveMax)
      return { run: await ask("GET /runs/:id", { id }, { signal }), map: kept.map };
    const map = loadedMap(await ask("GET /runs/:id/map", { id }, { signal }));
    own.current = { asked, map };
    return { run: map.run, map };
  });
}

interface FoundProps {
  readonly run: RunReply;
  readonly map: LoadedMap;
  readonly onDone: () => void;
}

/** The job that started it: which schedule made that, and for when. */
const useStarter = (starter: string | null) =>
  useResource(
    `starter ${starter}`,
    async (signal) => (starter === null ? null : await ask("GET /jobs/:id", { id: starter }, { signal })),
    { again: "never" },
  ).data;

function Found({ run, map, onDone }: FoundProps) {
  const { schedule = null, scheduledFor = null } = useStarter(run.starter) ?? {};
  return (
    <div class="fill">
      <ScreenHead
        title={run.kind}
        id={run.id}
        crumbs={[
          ...(schedule === null ? [] : scheduleCrumbs(schedule, scheduledFor)),
          <a href={addresses.runs}>{words.places.runs}</a>,
          <span class="mono">{run.key}</span>,
        ]}
      >
        <RunStatus {...run} />
        <RunProgress progress={run.progress} />
        <span class="space" />
        <RunActions run={run} map={map} onDone={onDone} />
      </ScreenHead>
      <p class="dim">
        {words.runs.version(run.version, <Time at={run.createdAt} />)}
        {run.finishedAt === null ? null : words.runs.ended(<Time at={run.finishedAt} />)}
        {run.parent === null
          ? null
          : words.runs.againOf(<Link to={addresses.run(run.parent)} text={`#${run.parent}`} />)}
        {run.starter === null ? null : words.runs.startedBy(<JobLink id={run.starter} />)}
        {run.then === null ? null : <Then {...run.then} />}
      </p>
      {map.tasks.length === 0 ? <NoTasks run={run} /> : <Views run={run} map={map} />}
      <Audits target={`/runs/${run.id}`} />
    </div>
  );
}

/** What follows: its job, the job that makes it, or when. */
function Then({ kind, on, job, by }: NonNullable<RunReply["then"]>) {
  const known = job ?? by;
  const what = known === null ? words.runs.followsWhen[on] : <JobLink id={known} />;
  return <>{words.runs.followedBy(kind, what)}</>;
}

const NoTasks = ({ run }: { readonly run: RunReply }) =>
  run.finishedAt === null ? (
    <Empty title={words.runs.written} text={words.runs.onePage} />
  ) : (
    <>
      <Empty title={words.runs.nothingToDo} text={words.runs.noRows} />
      <JsonView value={run.input} label={words.runs.views.input} />
    </>
  );

/** A fan-out has targets, which have no edges: it opens with its funnel. Tasks of a graph may have no edges either. */
function Views({ run, map }: { readonly run: RunReply; readonly map: LoadedMap }) {
  const { query, path, route } = useLocation();
  const isFanOut = run.shape === null && map.edges.length === 0;
  const left = isFanOut ? ["graph", "matrix"] : ["funnel"];
  const offered = views.filter((each) => !left.includes(each));
  const view = offered.find((each) => each === query["view"]) ?? (isFanOut ? "funnel" : "grid");
  const go = (next: View, search = ""): void =>
    route(`${path}?${new URLSearchParams({ view: next, ...(search === "" ? {} : { q: search }) }).toString()}`, true);
  return (
    <>
      {run.progress.failed > 0 ? <FailedList tasks={map.failed} failed={run.progress.failed} /> : null}
      <Tabs
        label={words.runs.view}
        among={offered.map((value) => ({ value, name: words.runs.views[value] }))}
        value={view}
        onChoose={(next) => go(next)}
      />
      {map.isMore ? (
        <p class="dim">
          {map.tasks.length < run.progress.total ? words.runs.firstShown(map.tasks.length) : words.runs.arrowsCut}
          <Link to={addresses.jobsWith(`run:${run.id}`)} text={words.shared.showJobs} />
        </p>
      ) : null}
      {view === "grid" ? <Tasks map={map} search={query["q"] ?? ""} /> : null}
      {view === "graph" ? <TaskGraph map={map} onGroup={(group) => go("grid", group.name)} /> : null}
      {view === "matrix" ? <RunMatrix run={run.id} /> : null}
      {view === "funnel" ? <Funnel run={run} /> : null}
      {view === "input" ? <JsonView value={run.input} label={words.runs.views.input} /> : null}
    </>
  );
}

/** A run of few tasks is shown whole. */
const smallRun = 50;

/** A large run opens on what is not successful, if anything is not. */
function Tasks({ map, search }: { readonly map: LoadedMap; readonly search: string }) {
  const isBad = map.tasks.length > smallRun && map.tasks.some(({ state }) => state !== "SUCCESS");
  const [set, setSet] = useState<TaskSet>(isBad && search === "" ? "bad" : "all");
  const [text, setText] = useState(search);
  const isLarge = map.tasks.length > smallRun;
  const shown = useMemo(() => listedTasks(map.tasks, { set, text, isLarge }), [map, set, text]);
  return (
    <>
      <TaskBar tasks={map.tasks} shown={shown.length} set={set} text={text} onSet={setSet} onText={setText} />
      {shown.length === 0 ? (
        <Empty title={words.runs.noMatch}>
          <Button
            text={words.runs.showAll}
            onClick={() => {
              setSet("all");
              setText("");
            }}
          />
        </Empty>
      ) : (
        <TaskGrid map={map} shown={shown} />
      )}
    </>
  );
}
