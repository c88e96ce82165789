import { Button, Empty, Failure, later, ScreenHead, Tabs } from "../parts/index.ts";
import { useLocation } from "preact-iso";
import { useMemo, useState } from "preact/hooks";
import { addresses } from "../address.ts";
import { FilterBar, FilterProblems } from "../filter/filter-bar.tsx";
import { valueIn, withTerm } from "../filter/terms.ts";
import { useCurrentRow } from "../keys.ts";
import { OutcomeTable, type ScheduleSortName, scheduleSortNames } from "../schedules/outcome-table.tsx";
import { useOutcomeRows } from "../schedules/outcome-rows.ts";
import { parseScheduleFilter, suggestForSchedules } from "../schedules/schedule-filter.ts";
import { SquareLegend } from "../schedules/squares.tsx";
import { words } from "../language/words.ts";

const ScheduleForm = later(async () => (await import("../schedules/schedule-form.tsx")).ScheduleForm);

/** All schedules with how they do. The address holds filter and order. */
export function SchedulesScreen() {
  const { query, route } = useLocation();
  const text = query["q"] ?? "";
  const sort = scheduleSortNames.find((name) => name === query["sort"]) ?? "id";
  const filter = useMemo(() => parseScheduleFilter(text), [text]);
  const isUsable = filter.problems.length === 0;
  const rows = useOutcomeRows(`${sort} ${text}`, isUsable ? { ...filter.query, sort } : null);
  const [isCreating, setCreating] = useState(false);
  const apply = (next: string, order: ScheduleSortName = sort): void => route(addresses.schedulesWith(next, order));
  const current = useCurrentRow(`${sort} ${text}`, rows.total ?? 1, (row) => {
    const id = rows.at(row)?.id;
    return id === undefined ? null : addresses.schedule(id);
  });
  return (
    <div class="fill">
      <ScreenHead title={words.places.schedules} tab={`${words.places.schedules} ${text}`.trim()}>
        <Tabs
          label={words.labels.state}
          among={tabs}
          value={valueIn(text, "state").toLowerCase()}
          onChoose={(state) => apply(withTerm(text, "state", state === "" ? null : state))}
        />
        <span class="space" />
        <Button text={words.schedules.create} onClick={() => setCreating(true)} />
        {isCreating ? <ScheduleForm onClose={() => setCreating(false)} /> : null}
        <span class="dim" role="status">
          {rows.total === null ? "" : words.many.schedule({ count: rows.total, isMore: rows.isMore })}
        </span>
      </ScreenHead>
      <FilterBar
        text={text}
        label={words.schedules.filter}
        placeholder={words.schedules.placeholder}
        suggest={(word) => suggestForSchedules(word, rows.loaded)}
        onFilter={(next) => apply(next)}
      />
      <FilterProblems problems={filter.problems} />
      {rows.error === null ? null : <Failure error={rows.error} onRetry={rows.reload} />}
      {rows.total === null || !isUsable ? null : rows.total === 0 && text === "" ? (
        <None />
      ) : rows.total === 0 ? (
        <Empty title={words.filter.noMatch} onClear={() => apply("")} />
      ) : (
        <>
          <OutcomeTable
            rows={rows}
            total={rows.total}
            sort={sort}
            onSort={(order) => apply(text, order)}
            current={current.value}
          />
          <SquareLegend />
        </>
      )}
    </div>
  );
}

const tabs = [
  { name: words.labels.all, value: "" },
  ...(["failing", "late", "paused", "active"] as const).map((value) => ({
    name: words.schedules.states[value],
    value,
  })),
];

const None = () => (
  <Empty
    title={words.schedules.noneYet}
    text={words.schedules.howToAdd(<code>defineSchedule</code>, <code>jobs/</code>)}
  />
);
