import type { UpcomingReply } from "../../api/shape/upcoming.ts";
import { numberText } from "../language/number.ts";
import { words } from "../language/words.ts";
import { Axis, Card, Icon, linkPlace, Picture, Time } from "../parts/index.ts";
import { clockZone, durationText, partsOf } from "../time.ts";

const said = words.upcoming;
/** Of the busiest lanes; the others share the last. */
const colours = [
  ...[215, 45, 275, 170].map((hue) => `light-dark(hsl(${hue} 50% 45%), hsl(${hue} 50% 65%))`),
  "var(--pending)",
];
const overColour = "repeating-linear-gradient(45deg, var(--failed) 0 4px, var(--panel) 4px 5px)";

type Load = UpcomingReply["lanes"][number] & { readonly places: number };

interface Layer {
  readonly name: string;
  readonly colour: string;
  /** In each part of the span. */
  readonly jobs: readonly number[];
}

const sum = (values: readonly number[]): number => values.reduce((all, each) => all + each, 0);

/** Of some lanes what fits into each, and above it what does not. */
function layersOf(lanes: readonly Load[], colour: string): readonly Layer[] {
  const jobsBy = (of: (wanted: number, places: number) => number): readonly number[] =>
    (lanes[0]?.wanted ?? []).map((_, part) => sum(lanes.map(({ wanted, places }) => of(wanted[part] ?? 0, places))));
  const name = lanes.length === 1 ? (lanes[0]?.lane ?? "") : said.others(lanes.length);
  const over = jobsBy((wanted, places) => Math.max(0, wanted - places));
  return [
    { name, colour, jobs: jobsBy(Math.min) },
    { name: said.over, colour: overColour, jobs: over },
  ];
}

interface LoadToComeProps {
  readonly found: UpcomingReply;
  /** Lists what starts in the part that begins then. */
  readonly linkTo: (from: string) => string;
}

/** How many jobs will run or wait at once: lanes on top of each other, with what is more than each of them runs. */
export function LoadToCome({ found: { parts, isMore, ...found }, linkTo }: LoadToComeProps) {
  const span = { from: Date.parse(found.from), to: Date.parse(found.to) };
  const lanes = found.lanes
    .map((load): Load => ({ ...load, places: (load.capacityMs ?? Infinity) / (span.to - span.from) }))
    .toSorted((a, b) => Math.max(...b.wanted) - Math.max(...a.wanted));
  const own = colours.length - 1;
  const groups = [...lanes.slice(0, own).map((lane) => [lane]), lanes.slice(own)].filter(({ length }) => length > 0);
  const layers = groups.flatMap((group, n) => layersOf(group, colours[n] ?? "")).filter(({ jobs }) => sum(jobs) > 0);
  const keys = new Map(layers.map(({ name, colour }) => [name, colour]));
  const most = Math.max(...parts.map((_, part) => sum(layers.map(({ jobs }) => jobs[part] ?? 0))));
  const places = sum(lanes.map((lane) => lane.places));
  // A line so high that all columns were flat is said in words alone.
  const top = Math.max(4, most, places > 4 * most ? 0 : places);
  const edge = (part: number): number => span.from + (part * (span.to - span.from)) / parts.length;
  const textOf = (part: number): string =>
    [
      `${clockAt(edge(part))} – ${clockAt(edge(part + 1))}: ${said.times(parts[part] ?? 0, false)}`,
      ...lanes.flatMap((each) => {
        const wanted = each.wanted[part] ?? 0;
        return wanted === 0 ? [] : [said.ofLane(each.lane, wanted, each.places)];
      }),
    ].join(" · ");
  return (
    <Card title={said.loadToCome} about={`${said.times(sum(parts), isMore)}, ${said.atOnce(most, places)}`}>
      <PileUps of={lanes} />
      <Picture look="load" how={said.how}>
        <div class="bars row" role="group" aria-label={said.loadToCome}>
          {parts.map((_, part) => (
            <a
              key={part}
              {...linkPlace(part)}
              class="load-column"
              href={linkTo(new Date(edge(part)).toISOString())}
              aria-label={textOf(part)}
            >
              {layers.map(({ colour, jobs }, n) => (
                <i key={n} style={{ height: `${((jobs[part] ?? 0) / top) * 100}%`, background: colour }} />
              ))}
            </a>
          ))}
          {places > top ? null : <i class="load-line" style={{ bottom: `${(places / top) * 100}%` }} />}
          <span class="bars-most">{numberText(top)}</span>
        </div>
        <Axis span={span} />
        <p class="legend">
          {[...keys].map(([name, background]) => (
            <span key={name}>
              <i class="swatch" style={{ background }} /> {name}
            </span>
          ))}
        </p>
      </Picture>
    </Card>
  );
}

const clockAt = (at: number): string => partsOf(at, clockZone()).clock.slice(0, 5);

const lanesNamed = 3;

/** Which lanes have more to do at once than they run, and for how long. */
function PileUps({ of }: { readonly of: readonly Load[] }) {
  const piled = of.flatMap(({ pileUp, ...lane }) => (pileUp === null ? [] : [{ ...lane, ...pileUp }]));
  if (piled.length === 0) return <p class="form-lead">{said.fits}</p>;
  return (
    <ul class="form-lead">
      {piled.slice(0, lanesNamed).map(({ lane, places, over, from, drainsAt, longestWaitMs }) => (
        <li key={lane} class="tone-bad">
          <Icon name="warning" size={14} /> {said.pilesUp(lane, over, places, durationText(longestWaitMs))}
          <Time at={from} /> – <Time at={drainsAt} />
        </li>
      ))}
      {piled.length > lanesNamed ? <li>{words.many.more(piled.length - lanesNamed)}</li> : null}
    </ul>
  );
}
