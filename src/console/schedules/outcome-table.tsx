import { addresses } from "../address.ts";
import { currentTime } from "../clock.ts";
import { Icon } from "../parts/icon.tsx";
import { Time } from "../parts/time.tsx";
import { type RowColumn, VirtualRows } from "../parts/virtual-rows.tsx";
import type { ScheduleOutcomeReply } from "../../api/shape/schedule-outcome.ts";
import { isNarrow } from "../narrow.ts";
import { startScheduleOnce, togglePause } from "./actions.tsx";
import type { OutcomeRows } from "./outcome-rows.ts";
import { plainWords } from "./plain-words.ts";
import { Squares } from "./squares.tsx";
import { EndsText, latenessText, onTimeText, scheduleStatus } from "./status.tsx";
import { words } from "../language/words.ts";

export const scheduleSortNames = ["id", "next", "lateness", "failing"] as const;
export type ScheduleSortName = (typeof scheduleSortNames)[number];

const names = { ...words.labels, ...words.schedules.columns };

const template = "minmax(132px, 1.3fr) minmax(126px, 1.5fr) minmax(194px, 1fr) 194px 214px 104px 110px";
/** Two lines; in a narrow window each row is a block. */
const rowPixels = { wide: 52, narrow: 232 };

interface OutcomeTableProps {
  readonly rows: OutcomeRows;
  readonly total: number;
  readonly sort: ScheduleSortName;
  readonly onSort: (sort: ScheduleSortName) => void;
  readonly current: number;
}

export function OutcomeTable({ rows, total, sort, onSort, current }: OutcomeTableProps) {
  const by = (name: string, key: ScheduleSortName, isNumber = false): RowColumn => ({
    name: (
      <button type="button" class="sort" onClick={() => onSort(key)}>
        {name}
        {sort === key ? <Icon name="down" size={12} /> : null}
      </button>
    ),
    isNumber,
    isSorted: sort === key,
  });
  return (
    <VirtualRows
      label={words.places.schedules}
      columns={[
        by(names.schedule, "id"),
        { name: names.when },
        by(names.state, "failing"),
        by(names.next, "next"),
        { name: names.last },
        by(names.lateness, "lateness", true),
        { name: <span class="hidden">{words.shared.actions}</span> },
      ]}
      template={template}
      height={isNarrow.value ? rowPixels.narrow : rowPixels.wide}
      rows={total}
      current={current}
      onView={rows.onView}
      idOf={(index) => rows.at(index)?.id ?? `place ${index}`}
      row={(index) => <OutcomeRow schedule={rows.at(index)} place={{ index, current }} onDone={rows.reload} />}
    />
  );
}

interface OutcomeRowProps {
  /** Undefined while it is on its way. */
  readonly schedule: ScheduleOutcomeReply | undefined;
  readonly place: { readonly index: number; readonly current: number };
  readonly onDone: () => void;
}

function OutcomeRow({ schedule, place: { index, current }, onDone }: OutcomeRowProps) {
  const look = `row tall stacks${index === current ? " current" : ""}`;
  if (schedule === undefined) {
    return (
      <div class={look} role="row" aria-rowindex={index + 2} aria-busy="true">
        <span role="cell" class="dim">
          …
        </span>
      </div>
    );
  }
  const { id, kind, expression, timezone, paused, enabled, nextAt, last } = schedule;
  return (
    <div class={look} role="row" data-id={id} aria-rowindex={index + 2}>
      <span role="cell" class="wide">
        <a class="row-link" href={addresses.schedule(id)} title={id}>
          {id}
        </a>
        {kind === id ? null : <span class="under dim">{kind}</span>}
      </span>
      <span role="cell" title={`${expression} ${timezone}`}>
        {plainWords(expression)}
        <span class="under dim">
          <span class="mono">{expression}</span> · {timezone}
        </span>
      </span>
      <span role="cell">
        {scheduleStatus(schedule, currentTime())}
        <span class="under">
          <EndsText {...schedule} />
        </span>
      </span>
      <span role="cell" class="wide" data-label={names.next}>
        {paused || !enabled ? <span class="nothing">–</span> : <Time at={nextAt} zone={timezone} />}
      </span>
      <span role="cell" class="wide" data-label={names.last}>
        {last.length === 0 ? (
          <span class="dim small">{words.schedules.noneYetShort}</span>
        ) : (
          <Squares last={last} zone={timezone} />
        )}
      </span>
      <span role="cell" class="number" data-label={names.lateness}>
        {latenessText(schedule)}
        {schedule.onTimeShare === null ? null : (
          <span class="under dim">{words.schedules.onTimeOf(onTimeText(schedule))}</span>
        )}
      </span>
      <span role="cell" class="actions">
        <RowActions schedule={schedule} onDone={onDone} />
      </span>
    </div>
  );
}

const RowActions = ({ schedule, onDone }: { readonly schedule: ScheduleOutcomeReply; readonly onDone: () => void }) => (
  <>
    <button
      type="button"
      class="button small"
      onClick={() => void startScheduleOnce(schedule)}
      aria-label={words.schedules.runNowOf(schedule.id)}
    >
      {words.shared.runNow}
    </button>
    <button
      type="button"
      class="icon-button"
      title={schedule.paused ? words.shared.resume : words.shared.pause}
      onClick={() => void togglePause(schedule, onDone)}
    >
      <Icon name={schedule.paused ? "play" : "pause"} />
      <span class="hidden">{words.schedules.toggle(schedule.paused, schedule.id)}</span>
    </button>
  </>
);
