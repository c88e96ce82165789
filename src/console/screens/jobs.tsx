import { Button, Empty, Failure, later, Loading, ScreenHead } from "../parts/index.ts";
import { useLocation } from "preact-iso";
import { useMemo, useState } from "preact/hooks";
import { addresses } from "../address.ts";
import type { CountReply } from "../language/number.ts";
import { currentTime } from "../clock.ts";
import { ask } from "../http.ts";
import { FilterBar, FilterProblems } from "../filter/filter-bar.tsx";
import { RangePicker } from "../filter/range-picker.tsx";
import { valueIn, withTerm } from "../filter/terms.ts";
import { suggest } from "../jobs/completion.ts";
import { BulkBar } from "../jobs/bulk-bar.tsx";
import { type JobQuery, parseFilter, queryOf, statesOf } from "../jobs/filter.ts";
import { useCompletions } from "../jobs/known.ts";
import { useJobRows } from "../jobs/list.ts";
import { useSelection } from "../jobs/selection.ts";
import { StateTabs, sumOf } from "../jobs/state-tabs.tsx";
import { JobTable } from "../jobs/table.tsx";
import { useCurrentRow, useKeys } from "../keys.ts";
import { CopyList } from "../jobs/copy-list.tsx";
import { useResource } from "../resource.ts";
import type { JobCountsReply } from "../../api/shape/job.ts";
import { jobStates } from "../jobs/state.ts";
import { words } from "../language/words.ts";

const EnqueueForm = later(async () => (await import("../jobs/enqueue-form.tsx")).EnqueueForm);

/** The list. Its address holds the whole filter: a link shows the same list to another person. */
export function JobsScreen() {
  const { query, route } = useLocation();
  const text = query["q"] ?? "";
  const filter = useMemo(() => parseFilter(text), [text]);
  const known = useCompletions();
  const asked = filter.problems.length === 0 ? queryOf(filter, currentTime()) : null;
  const rows = useJobRows(text, asked);
  const others = withTerm(text, "state", null);
  const counts = useResource(
    `counts ${others}`,
    async (signal) => (asked === null ? null : await ask("GET /jobs/counts", { ...asked, state: null }, { signal })),
    { again: "slow" },
  );
  const selection = useSelection(rows.jobs, text);
  const apply = (next: string): void => route(addresses.jobsWith(next));
  const current = useCurrentRow(text, rows.jobs.length, (row) => {
    const id = rows.jobs[row]?.id;
    return id === undefined ? null : addresses.job(id);
  });
  useKeys([
    { keys: "x", does: words.jobs.markRow, run: () => selection.toggle(current.value, false) },
    { keys: "X", does: words.jobs.markUpToRow, run: () => selection.toggle(current.value, true) },
  ]);
  return (
    <div class="fill">
      <ScreenHead title={words.places.jobs} tab={`${words.places.jobs} ${text}`.trim()}>
        <span class="space" />
        {(["created", "ended"] as const).map((of) => (
          <RangePicker
            key={of}
            of={of}
            value={valueIn(text, of)}
            onRange={(value) => apply(withTerm(text, of, value === "" ? null : value))}
          />
        ))}
        {asked === null ? null : <CopyList filter={asked} jobs={rows.jobs} />}
        <EnqueueButton />
      </ScreenHead>
      <StateTabs counts={counts.data} filter={text} onFilter={(state) => apply(withTerm(text, "state", state))} />
      <FilterBar
        text={text}
        label={words.jobs.filter}
        placeholder={words.jobs.placeholder}
        suggest={(word) => suggest(word, known())}
        onFilter={apply}
      />
      <FilterProblems problems={filter.problems} />
      {rows.error === null ? null : <Failure error={rows.error} onRetry={rows.reload} />}
      {rows.jobs.length === 0 || asked === null ? null : (
        <BulkBar
          text={text}
          selection={selection}
          filter={asked}
          matching={totalOf(asked, counts.data)}
          onDone={() => void [rows.reload(), counts.reload()]}
        />
      )}
      {rows.jobs.length > 0 ? (
        <JobTable rows={rows} selection={selection} current={current.value} />
      ) : rows.isLoading && rows.error === null && asked !== null ? (
        <Loading />
      ) : rows.error !== null || asked === null ? null : text === "" ? (
        <NoJobs />
      ) : (
        <Empty title={words.filter.noMatch} onClear={() => apply("")} />
      )}
    </div>
  );
}

const totalOf = ({ state }: JobQuery, counts: JobCountsReply | null): CountReply | null =>
  counts === null ? null : sumOf(state === undefined ? jobStates : (statesOf(state) ?? []), counts);

const NoJobs = () => (
  <Empty title={words.jobs.noneYet}>
    <p>{words.jobs.howToBegin(<code>jobs/</code>)}</p>
    <pre class="command">npx belfry jobs enqueue hello</pre>
  </Empty>
);

function EnqueueButton() {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button text={words.enqueue.open} onClick={() => setOpen(true)} />
      {isOpen ? <EnqueueForm onClose={() => setOpen(false)} /> : null}
    </>
  );
}
