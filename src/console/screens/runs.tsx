import {
  type Column,
  column,
  DataTable,
  Empty,
  Loaded,
  Named,
  NumberedLink,
  Older,
  ScreenHead,
  Tabs,
} from "../parts/index.ts";
import { useLocation } from "preact-iso";
import { addresses } from "../address.ts";
import { now } from "../clock.ts";
import { RangePicker } from "../filter/range-picker.tsx";
import { useAnswer } from "../resource.ts";
import { RunProgress } from "../runs/progress.tsx";
import { RunStatus } from "../runs/status.tsx";
import type { RunReply } from "../../api/shape/run.ts";
import { words } from "../language/words.ts";

const filters: readonly { readonly name: string; readonly value: string }[] = [
  { name: words.labels.all, value: "" },
  { name: words.runs.states.RUNNING, value: "RUNNING,CANCELING" },
  { name: words.runs.states.FAILED, value: "FAILED" },
  { name: words.runs.states.DONE, value: "DONE" },
  { name: words.runs.states.CANCELED, value: "CANCELED" },
];

export function RunsScreen() {
  const { query, route } = useLocation();
  const { state = "", kind = "", key = "", created = "", before = "" } = query;
  const asked = { cursor: before, state, kind, key, limit: 50 };
  const page = useAnswer("GET /runs", asked, { range: ["created", created] });
  const go = (fields: Readonly<Record<string, string>>): void =>
    route(`${addresses.runs}?${new URLSearchParams({ state, kind, key, created, ...fields })}`);
  return (
    <>
      <ScreenHead title={words.places.runs}>
        <Tabs label={words.labels.state} among={filters} value={state} onChoose={(value) => go({ state: value })} />
        <Named name={words.labels.kind} value={kind} onName={(value) => go({ kind: value })} />
        <Named name={words.labels.key} value={key} onName={(value) => go({ key: value })} />
        <RangePicker of="created" value={created} onRange={(value) => go({ created: value })} />
      </ScreenHead>
      <Loaded of={page}>
        {({ runs, nextCursor }) => (
          <>
            {runs.length === 0 ? (
              <NoRuns isFiltered={`${state}${kind}${key}${created}` !== ""} />
            ) : (
              <div class="card">
                <DataTable label={words.places.runs} look="stacks" columns={columns} rows={runs} idOf={idOf} />
              </div>
            )}
            <Older cursor={nextCursor} onOlder={(next) => go({ before: next })} />
          </>
        )}
      </Loaded>
    </>
  );
}

const NoRuns = ({ isFiltered }: { readonly isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title={words.runs.noneInState} />
  ) : (
    <Empty title={words.runs.noneYet} text={words.runs.whatItIs(<code>defineGraph</code>, <code>defineFanOut</code>)} />
  );

const names = { ...words.labels, ...words.runs.columns };

const idOf = ({ id }: RunReply): string => id;
const tookMs = ({ createdAt, finishedAt }: RunReply): number =>
  (finishedAt === null ? now.value : Date.parse(finishedAt)) - Date.parse(createdAt);

const columns: readonly Column<RunReply>[] = [
  { name: names.state, by: ({ state }) => state, cell: (run) => <RunStatus {...run} /> },
  {
    name: names.run,
    by: ({ kind }) => kind,
    cell: ({ id, kind }) => <NumberedLink to={addresses.run(id)} {...{ kind, id }} />,
  },
  { name: names.key, class: "mono dim wide cut-text", title: ({ key }) => key ?? undefined, cell: ({ key }) => key },
  { name: names.progress, class: "wide", cell: ({ progress }) => <RunProgress progress={progress} /> },
  column.time(names.started, "createdAt"),
  column.duration(names.took, tookMs),
];
