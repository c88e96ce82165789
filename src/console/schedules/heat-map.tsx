import { type Column, DataTable, Loaded, Picture, placed } from "../parts/index.ts";
import { currentTime } from "../clock.ts";
import { isoTime } from "../filter/range.ts";
import { numberText } from "../language/number.ts";
import { words } from "../language/words.ts";
import { useAnswer } from "../resource.ts";
import { clockZone, durationText, inZone, partsOf } from "../time.ts";
import { calendarOf, type HeatCell, heatEnds, type HeatRow } from "./calendar.ts";
import { squareClass } from "./squares.tsx";

interface HeatMapProps {
  readonly id: string;
  /** The schedule's. */
  readonly zone: string;
  /** The list of what lies between two times. */
  readonly listOf: (nominal: string) => string;
}

/** The times of weeks at one look: each cell has the colour of its worst end, and a click lists its times. */
export function HeatMap({ id, zone, listOf }: HeatMapProps) {
  const found = useAnswer("GET /schedules/:id/occurrences/counts", { id }, { again: "slow" });
  return (
    <Loaded of={found}>
      {({ quarters, isMore }) => {
        const read = clockZone(zone);
        const { columns, rows } = calendarOf(quarters, read);
        const line: Column<HeatRow> = {
          name: (
            <Cells
              of={columns.map((name, place) => (
                <i key={place}>{name}</i>
              ))}
            />
          ),
          width: "minmax(0, 1fr)",
          class: "gantt",
          cell: ({ cells }) => <Cells of={cellsOf(cells, { read, listOf })} />,
        };
        const table = { rows, columns: [dayColumn, line, failedColumn], idOf: ({ id: day }: HeatRow) => day };
        return rows.length === 0 ? null : (
          <Picture look="heat" how={isMore ? words.heat.isMore : words.heat.how}>
            <DataTable label={words.heat.title} {...table} />
          </Picture>
        );
      }}
    </Loaded>
  );
}

const Cells = ({ of }: { readonly of: readonly object[] }) => (
  <span class="heat-cells" style={{ "--cells": String(of.length) }}>
    {of}
  </span>
);

const dayColumn: Column<HeatRow> = {
  name: words.heat.day,
  width: "84px",
  cell: ({ id }) => partsOf(Date.parse(id), "UTC").day,
};

const countOf = (cell: HeatCell | null): number => heatEnds.reduce((sum, end) => sum + (cell?.[end] ?? 0), 0);

const failedColumn: Column<HeatRow> = {
  name: words.states.FAILED,
  width: "104px",
  isNumber: true,
  class: ({ cells }) => (cells.some((cell) => cell !== null && cell.failed > 0) ? "error-code" : "dim"),
  cell({ cells }) {
    const sum = (of: (cell: HeatCell | null) => number): string =>
      numberText(cells.reduce((all, cell) => all + of(cell), 0));
    return `${sum((cell) => cell?.failed ?? 0)} / ${sum(countOf)}`;
  },
};

interface Shown extends Pick<HeatMapProps, "listOf"> {
  /** The zone by whose clock it is drawn. */
  readonly read: string;
}

function cellsOf(cells: readonly (HeatCell | null)[], { read, listOf }: Shown) {
  let n = 0;
  return cells.map((cell, place) =>
    cell === null ? (
      <i key={place} />
    ) : (
      <a
        key={place}
        {...placed(n++)}
        style={shareOf(cell)}
        class={`${lookOf(cell)}${cell.late > 0 ? " late" : ""}`}
        href={listOf(`${isoTime(cell.from)}..${isoTime(cell.to)}`)}
        aria-label={textOf(cell, read)}
      />
    ),
  );
}

function lookOf(cell: HeatCell): string {
  const worst = heatEnds.find((end) => cell[end] > 0) ?? "unknown";
  if (worst === "nothing") return squareClass({ outcome: "SKIPPED", job: null, result: null });
  return `square end-${worst}`;
}

/** What failed stands on the ground, high enough to be seen also where it is one of sixty. */
const shareOf = (cell: HeatCell) => ({ "--failed-share": `${Math.max(35, (cell.failed / countOf(cell)) * 100)}%` });

function textOf(cell: HeatCell, read: string): string {
  const ends = heatEnds.filter((end) => cell[end] > 0).map((end) => `${numberText(cell[end])} ${words.heat.ends[end]}`);
  const late = cell.late === 0 ? [] : [words.heat.late(cell.late, durationText(cell.latestMs ?? 0))];
  return [inZone(cell.from, currentTime(), read).text, ends.join(", "), ...late].join(" · ");
}
