import { CellTable, type DrawnCell, InCells, Loaded } from "../parts/index.ts";
import { currentTime } from "../clock.ts";
import { isoTime } from "../filter/range.ts";
import { numberText } from "../language/number.ts";
import { words } from "../language/words.ts";
import { useAnswer } from "../resource.ts";
import { clockZone, durationText, inZone, partsOf } from "../time.ts";
import { calendarOf, type HeatCell, heatEnds } from "./calendar.ts";

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
        const heads = columns.map((name, place) => <i key={place}>{name}</i>);
        const drawn = (cell: HeatCell): DrawnCell => ({
          look: `square end-${endOf(cell)}${cell.late > 0 ? " late" : ""}`,
          text: textOf(cell, read),
          href: listOf(`${isoTime(cell.from)}..${isoTime(cell.to)}`),
          // What failed stands on the ground, high enough to be seen also where it is one of sixty.
          style: { "--failed-share": `${Math.max(35, (cell.failed / countOf(cell)) * 100)}%` },
        });
        return rows.length === 0 ? null : (
          <CellTable
            title={words.heat.title}
            how={isMore ? words.heat.isMore : words.heat.how}
            names={[words.heat.day, <InCells of={columns.length}>{heads}</InCells>]}
            rows={rows.map(({ day, cells }) => ({
              id: partsOf(Date.parse(day), "UTC").day,
              cells: cells.map((cell) => cell && drawn(cell)),
              failed: sum(cells, ({ failed }) => failed),
              of: sum(cells, countOf),
            }))}
          />
        );
      }}
    </Loaded>
  );
}

const sum = (cells: readonly (HeatCell | null)[], of: (cell: HeatCell) => number): number =>
  cells.reduce((all, cell) => all + (cell === null ? 0 : of(cell)), 0);

const countOf = (cell: HeatCell): number => heatEnds.reduce((all, end) => all + cell[end], 0);

const endWords = { ...words.occurrences.ends, nothing: words.heat.nothing };

const endOf = (cell: HeatCell): string => heatEnds.find((end) => cell[end] > 0) ?? "unknown";

function textOf(cell: HeatCell, read: string): string {
  const ends = heatEnds.filter((end) => cell[end] > 0).map((end) => `${numberText(cell[end])} ${endWords[end]}`);
  const late = cell.late === 0 ? [] : [words.heat.late(cell.late, durationText(cell.latestMs ?? 0))];
  return [inZone(cell.from, currentTime(), read).text, ends.join(", "), ...late].join(" · ");
}
