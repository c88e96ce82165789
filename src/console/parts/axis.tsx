import { isNarrow } from "../narrow.ts";
import { clockZone, partsOf } from "../time.ts";

/** One scale of time for all that is drawn over it, in milliseconds. */
export interface TimeScale {
  readonly from: number;
  readonly to: number;
}

/** Where on it a time lies, in percent; what lies outside stays at the edge. */
export const percentOf = (at: number, { from, to }: TimeScale): number =>
  Math.min(100, Math.max(0, ((at - from) / (to - from)) * 100));

/** From one time to another on it, as a style. */
export function boxOn(from: number, to: number, scale: TimeScale) {
  const left = percentOf(from, scale);
  // Also the narrowest bar at the end is seen.
  return { left: `min(${left}%, 100% - 3px)`, width: `${percentOf(to, scale) - left}%` };
}

interface Tick {
  readonly at: number;
  readonly text: string;
  readonly isDay: boolean;
}

const stepsMin = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440];
/** Their texts do not touch. */
const ticksMax = { wide: 8, narrow: 4 };

/** Round times by the clock that the page is read in, also where it changes: each is looked up, none is counted. */
export function ticksOf(span: TimeScale): readonly Tick[] {
  const zone = clockZone();
  const minutes = (span.to - span.from) / 60_000;
  const step = stepsMin.find((each) => minutes / each <= (isNarrow.value ? ticksMax.narrow : ticksMax.wide)) ?? 1_440;
  // No zone is ahead of another by less than a quarter of an hour.
  const lookMs = Math.min(step, 15) * 60_000;
  const found: Tick[] = [];
  let dayBefore: string | null = null;
  for (let at = Math.ceil(span.from / lookMs) * lookMs; at < span.to; at += lookMs) {
    const { day, clock } = partsOf(at, zone);
    const [hour = 0, minute = 0] = clock.split(":").map(Number);
    const isDay: boolean = dayBefore !== null && day !== dayBefore;
    dayBefore = day;
    if (isDay || (hour * 60 + minute) % step === 0) found.push({ at, text: isDay ? day : clock.slice(0, 5), isDay });
  }
  return found;
}

/** Their lines and those of deployments, as the background of what is drawn. */
export function linesOf(span: TimeScale, releases: readonly string[]): string {
  const line = (colour: string, at: number): string =>
    `linear-gradient(${colour}, ${colour}) ${percentOf(at, span)}% 0 / 1px 100% no-repeat`;
  const ticks = ticksOf(span).map(({ at, isDay }) => line(`var(--line${isDay ? "-strong" : ""})`, at));
  return [...releases.map((at) => line("var(--accent)", Date.parse(at))), ...ticks].join(", ");
}

export const Axis = ({ span }: { readonly span: TimeScale }) => (
  <span class="axis" aria-hidden="true">
    {ticksOf(span).map(({ at, text, isDay }) =>
      percentOf(at, span) > 90 ? null : (
        <i key={at} class={isDay ? "" : "dim"} style={{ left: `${percentOf(at, span)}%` }}>
          {text}
        </i>
      ),
    )}
  </span>
);
