import { Button, type Column, column, DataTable, IconButton, Nothing, RowLink, Time } from "../parts/index.ts";
import { addresses } from "../address.ts";
import { currentTime } from "../clock.ts";
import type { ScheduleOutcomeReply } from "../../api/shape/schedule-outcome.ts";
import { isNarrow } from "../narrow.ts";
import { startScheduleOnce, toggleSchedule } from "./actions.tsx";
import type { OutcomeRows } from "./outcome-rows.ts";
import { follows, plainWords } from "./plain-words.ts";
import { Squares } from "./squares.tsx";
import { EndsText, latenessText, onTimeText, scheduleStatus } from "./status.tsx";
import { words } from "../language/words.ts";

export const scheduleSortNames = ["id", "next", "lateness", "failing"] as const;
export type ScheduleSortName = (typeof scheduleSortNames)[number];

const names = { ...words.labels, ...words.schedules.columns };

/** Two lines; in a narrow window each row is a block. */
const rowPixels = { wide: 52, narrow: 250 };

interface OutcomeTableProps {
  readonly rows: OutcomeRows;
  readonly total: number;
  readonly sort: ScheduleSortName;
  readonly onSort: (sort: ScheduleSortName) => void;
  readonly current: number;
}

export const OutcomeTable = ({ rows, total, sort, onSort, current }: OutcomeTableProps) => (
  <DataTable
    label={words.places.schedules}
    columns={columnsOf(rows.reload)}
    look="stacks"
    rowClass={() => "tall"}
    height={isNarrow.value ? rowPixels.narrow : rowPixels.wide}
    rows={{ length: total, at: rows.at }}
    current={current}
    onView={rows.onView}
    idOf={({ id }) => id}
    order={sort}
    onOrder={(order) => onSort(scheduleSortNames.find((name) => name === order) ?? "id")}
    canHide
  />
);

const whichAndWhen: readonly Column<ScheduleOutcomeReply>[] = [
  {
    name: names.schedule,
    order: "id",
    width: "minmax(132px, 1.3fr)",
    cell: ({ id, kind }) => (
      <>
        <RowLink to={addresses.schedule(id)} text={id} />
        {kind === id ? null : <span class="under dim">{kind}</span>}
      </>
    ),
  },
  {
    name: names.when,
    width: "minmax(118px, 1.5fr)",
    class: "wide",
    title: ({ expression, timezone }) => `${expression} ${timezone}`,
    cell: ({ expression, timezone }) => (
      <>
        {plainWords(expression)}
        <span class="under dim">
          <span class="mono">{expression}</span> · {timezone}
        </span>
      </>
    ),
  },
  {
    name: names.state,
    order: "failing",
    width: "minmax(160px, 1fr)",
    class: "wide",
    cell: (schedule) => (
      <>
        {scheduleStatus(schedule, currentTime())}
        <span class="under">
          <EndsText {...schedule} />
        </span>
      </>
    ),
  },
];

const howItGoes: readonly Column<ScheduleOutcomeReply>[] = [
  {
    name: names.next,
    order: "next",
    width: "140px",
    class: "wide",
    isNamed: true,
    cell: ({ paused, enabled, nextAt, timezone, expression }) =>
      paused || !enabled || follows(expression) ? <Nothing /> : <Time at={nextAt} zone={timezone} />,
  },
  {
    name: names.last,
    width: "222px",
    class: "wide",
    isNamed: true,
    cell: ({ last, timezone }) =>
      last.length === 0 ? (
        <span class="dim small">{words.occurrences.none}</span>
      ) : (
        <Squares last={last} zone={timezone} />
      ),
  },
  {
    name: names.lateness,
    order: "lateness",
    width: "112px",
    class: "wide",
    isNumber: true,
    isNamed: true,
    cell: (schedule) => (
      <>
        {latenessText(schedule)}
        {schedule.onTimeShare === null ? null : (
          <span class="under dim">{words.schedules.onTimeOf(onTimeText(schedule))}</span>
        )}
      </>
    ),
  },
];

const columnsOf = (onDone: () => void): readonly Column<ScheduleOutcomeReply>[] => [
  ...whichAndWhen,
  ...howItGoes,
  column.actions((schedule) => <RowActions schedule={schedule} onDone={onDone} />, { width: "110px" }),
];

const RowActions = ({ schedule, onDone }: { readonly schedule: ScheduleOutcomeReply; readonly onDone: () => void }) => (
  <>
    <Button
      text={words.shared.runNow}
      look="small"
      onClick={() => void startScheduleOnce(schedule)}
      label={words.schedules.runNowOf(schedule.id)}
    />
    <IconButton
      icon={schedule.paused ? "play" : "pause"}
      text={words.pause.toggle(schedule.paused, schedule.id)}
      onClick={() => void toggleSchedule(schedule, onDone)}
    />
  </>
);
