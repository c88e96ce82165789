import { addresses } from "../address.ts";
import { currentTime } from "../clock.ts";
import { quote } from "../filter/terms.ts";
import { reasonText } from "../language/spoken.ts";
import { words } from "../language/words.ts";
import { numberText } from "../language/number.ts";
import { boxOn, percentOf, linkPlace, type TimeScale } from "../parts/index.ts";
import type { NightReply } from "../../insight/night.ts";
import { clockZone, durationText, inZone } from "../time.ts";

export type NightRow = NightReply["rows"][number];
type Bar = NightRow["bars"][number];
type Cell = NightRow["cells"][number];

interface Shape {
  readonly from: string;
  readonly to: string | null;
  readonly href: string;
  readonly look: string;
  readonly style: Readonly<Record<string, string>>;
  /** Said of it before its times. */
  readonly text: string;
  readonly more: readonly string[];
}

const results = ["succeeded", "failed", "stopped", "open"] as const;
const { ends } = words.occurrences;
const colours = {
  succeeded: "var(--success)",
  failed: "var(--failed)",
  stopped: "var(--pending)",
  open: "var(--running)",
};

/** The list behind a row. */
export const hrefOf = (by: NightReply["by"], id: string): string =>
  by === "schedule" ? addresses.schedule(id) : addresses.jobsWith(`${by}:${quote(id)}`);

export const countOf = ({ bars, cells }: NightRow, among: readonly (typeof results)[number][] = results): number =>
  bars.filter(({ result }) => among.includes(result)).length +
  cells.reduce((sum, cell) => sum + among.reduce((own, result) => own + cell[result], 0), 0);

/** A bar that is narrower than this part of the scale has one colour: its end counts, not its wait. */
const tinyPart = 1 / 250;

function shapeOf(bar: Bar, href: string, { from: since, to: now }: TimeScale): Shape {
  const { job, run, dueAt, startedAt, endedAt, result, reason, tries } = bar;
  const own = { from: Date.parse(dueAt), to: endedAt === null ? now : Date.parse(endedAt) };
  const last =
    startedAt === null || tries.some(({ from }) => from === startedAt) ? [] : [{ from: startedAt, to: endedAt }];
  // Light where it waited, in the colour of a retry where an attempt failed, in that of its end where the last one ran.
  const pieces = [...tries, ...last].flatMap(({ from, to }, index, all) => {
    const colour =
      index < all.length - 1 || (result === "open" && last.length === 0) ? "var(--retry-wait)" : colours[result];
    const [left, right] = [percentOf(Date.parse(from), own), percentOf(to === null ? own.to : Date.parse(to), own)];
    return [`var(--wait) ${left}%`, `${colour} ${left}% ${right}%`, `var(--wait) ${right}%`];
  });
  const whole = result === "open" && startedAt === null ? "var(--wait)" : colours[result];
  const started = tries[0]?.from ?? startedAt;
  const text = `${ends[result]}${run === null && job === null ? "" : ` #${run ?? job}`}`;
  return {
    from: dueAt,
    to: endedAt,
    href: run !== null ? addresses.run(run) : job !== null ? addresses.job(job) : href,
    look: result,
    style: {
      background:
        pieces.length > 0 && own.to - own.from > (now - since) * tinyPart
          ? `linear-gradient(to right, ${pieces.join()})`
          : whole,
    },
    text: reason === null ? text : `${text} (${reasonText(reason)})`,
    more: [
      words.attempts.waited(durationText(Math.max(0, (started === null ? own.to : Date.parse(started)) - own.from))),
      ...(started === null ? [] : [words.attempts.ran(durationText(Math.max(0, own.to - Date.parse(started))))]),
    ],
  };
}

/** As high as it has many, what failed on the ground, where it is seen also when it is one of a thousand. */
function shapeOfMany(cell: Cell, href: string, most: number): Shape {
  const among = results.filter((result) => cell[result] > 0);
  const of = among.reduce((sum, result) => sum + cell[result], 0);
  const failed = cell.failed === 0 ? 0 : Math.max(20, (cell.failed / of) * 100);
  const rest = colours[cell.succeeded > 0 ? "succeeded" : cell.open > 0 ? "open" : "stopped"];
  return {
    ...cell,
    href,
    look: "many",
    style: {
      height: `${6 + 20 * Math.sqrt(of / most)}px`,
      background: `linear-gradient(to top, ${colours.failed} ${failed}%, ${rest} ${failed}%)`,
    },
    text: among.map((result) => `${numberText(cell[result])} ${ends[result]}`).join(", "),
    more: cell.p50Ms === null ? [] : [`p50 ${durationText(cell.p50Ms)}, p95 ${durationText(cell.p95Ms ?? 0)}`],
  };
}

export interface NightScale extends Pick<NightReply, "by"> {
  readonly span: TimeScale;
  /** Of the fullest cell. */
  readonly most: number;
}

function shapesOf(row: NightRow, { by, span, most }: NightScale): readonly Shape[] {
  const href = hrefOf(by, row.id);
  return [
    ...row.bars.map((bar) => shapeOf(bar, href, span)),
    ...row.cells.map((cell) =>
      shapeOfMany(cell, addresses.jobsWith(`${by}:${quote(row.id)} created:${cell.from}..${cell.to}`), most),
    ),
  ];
}

const clockAt = (at: string): string => inZone(Date.parse(at), currentTime(), clockZone()).text;

/** The bars of one row, over its pauses. */
export function BarLine({ row, drawn }: { readonly row: NightRow; readonly drawn: NightScale }) {
  const { span } = drawn;
  return (
    <>
      {row.pauses.map(({ from, to, reason }) => (
        <i
          key={from}
          class="night-pause"
          style={boxOf({ from, to }, span)}
          title={`${words.schedules.states.paused} ${reason ?? ""}`}
        />
      ))}
      {shapesOf(row, drawn).map((shape, index) => (
        <a
          key={index}
          {...linkPlace(index)}
          class={`gantt-bar night-bar ${shape.look}`}
          href={shape.href}
          aria-label={[`${row.id}: ${shape.text}`, clockAt(shape.from), ...shape.more].join(" · ")}
          style={{ ...boxOf(shape, span), ...shape.style }}
        />
      ))}
    </>
  );
}

const boxOf = ({ from, to }: Pick<Shape, "from" | "to">, span: TimeScale) =>
  boxOn(Date.parse(from), to === null ? span.to : Date.parse(to), span);
