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
import type { RunReply } from "../../api/shape/run.ts";
import { durationText } from "../time.ts";
import { useTitle } from "../title.ts";
import { words } from "../language/words.ts";

const filters: readonly { readonly name: string; readonly value: string }[] = [
  { name: words.runs.filters.all, value: "" },
  { name: words.runs.filters.running, value: "RUNNING,CANCELING" },
  { name: words.runs.filters.failed, value: "FAILED" },
  { name: words.runs.filters.done, value: "DONE" },
  { name: words.runs.filters.canceled, value: "CANCELED" },
];

export function RunsScreen() {
  useTitle(words.places.runs);
  const { query, route } = useLocation();
  const { state = "", kind = "", key = "", before = "" } = query;
  const asked = { cursor: before === "" ? null : before, state, kind, key };
  const page = useResource(`runs ${JSON.stringify(asked)}`, (signal) => loadRuns(asked, signal));
  const go = (fields: Readonly<Record<string, string>>): void =>
    route(`${addresses.runs}?${new URLSearchParams({ state, kind, key, ...fields })}`);
  return (
    <>
      <header class="screen-head">
        <h1>{words.places.runs}</h1>
        <Tabs label={words.labels.state} among={filters} value={state} onChoose={(value) => go({ state: value })} />
        <Named name={words.labels.kind} value={kind} onName={(value) => go({ kind: value })} />
        <Named name={words.labels.key} value={key} onName={(value) => go({ key: value })} />
      </header>
      <Loaded of={page}>
        {({ runs, nextCursor }) => (
          <>
            {runs.length === 0 ? <NoRuns isFiltered={`${state}${kind}${key}` !== ""} /> : <RunTable runs={runs} />}
            {nextCursor === null ? null : (
              <button type="button" class="button" onClick={() => go({ before: nextCursor })}>
                {words.runs.older}
              </button>
            )}
          </>
        )}
      </Loaded>
    </>
  );
}

interface NamedProps {
  readonly name: string;
  readonly value: string;
  readonly onName: (value: string) => void;
}

/** Asked for when it was written whole: the API compares whole names. */
const Named = ({ name, value, onName }: NamedProps) => (
  <input
    type="search"
    class="field"
    aria-label={name}
    placeholder={name}
    value={value}
    onChange={({ currentTarget }) => onName(currentTarget.value.trim())}
  />
);

const NoRuns = ({ isFiltered }: { readonly isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title={words.runs.noneInState} />
  ) : (
    <Empty title={words.runs.noneYet}>
      <p>{words.runs.whatItIs(<code>defineGraph</code>, <code>defineFanOut</code>)}</p>
    </Empty>
  );

const names = { ...words.labels, ...words.runs.columns };

const RunTable = ({ runs }: { readonly runs: readonly RunReply[] }) => (
  <div class="card">
    <table class="table stacks">
      <TableHead
        columns={[
          names.state,
          names.run,
          names.key,
          names.progress,
          names.started,
          { name: names.took, isNumber: true },
        ]}
      />
      <tbody>
        {runs.map((run) => (
          <tr key={run.id}>
            <td>
              <RunStatus {...run} />
            </td>
            <td>
              <a class="row-link" href={addresses.run(run.id)}>
                {run.kind} <span class="dim">{`#${run.id}`}</span>
              </a>
            </td>
            <td class="mono dim wide">{run.key}</td>
            <td class="wide">
              <RunProgress progress={run.progress} />
            </td>
            <td data-label={names.started}>
              <Time at={run.createdAt} />
            </td>
            <td class="number" data-label={names.took}>
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
