import { currentTime } from "../clock.ts";
import { Icon } from "../parts/icon.tsx";
import { ScrollTable } from "../parts/scroll-table.tsx";
import type { ShownJobDetail, JobState } from "../shape.ts";
import { reading, timeMode } from "../time.ts";
import { stateWords } from "../words.ts";

interface Place {
  readonly x: number;
  readonly y: number;
}

const width = 128;
const height = 44;

const places: Readonly<Record<JobState, Place>> = {
  PENDING: { x: 0, y: 62 },
  QUEUED: { x: 166, y: 62 },
  RUNNING: { x: 332, y: 62 },
  RETRY_WAIT: { x: 249, y: 140 },
  SUCCESS: { x: 498, y: 0 },
  FAILED: { x: 498, y: 54 },
  CANCELED: { x: 498, y: 108 },
  SKIPPED: { x: 498, y: 162 },
};

/** The usual moves. Rarer ones are drawn when this job made them. */
const usual: readonly (readonly [JobState, JobState])[] = [
  ["PENDING", "QUEUED"],
  ["QUEUED", "RUNNING"],
  ["RUNNING", "SUCCESS"],
  ["RUNNING", "FAILED"],
  ["RUNNING", "CANCELED"],
  ["RUNNING", "SKIPPED"],
  ["RUNNING", "RETRY_WAIT"],
  ["RETRY_WAIT", "QUEUED"],
];

/** Where the job has been, when it came there last, and where it is now. */
export function StateDiagram({ job, zone }: { readonly job: ShownJobDetail; readonly zone?: string | undefined }) {
  const visits = visitsOf(job);
  const made = movesOf(job);
  const extra = made.filter((move) => usual.every(([from, to]) => `${from}>${to}` !== `${move[0]}>${move[1]}`));
  const taken = new Set(made.map(([from, to]) => `${from}>${to}`));
  return (
    <section class="card" aria-label="States">
      <header class="card-head">
        <h2>States</h2>
      </header>
      <ScrollTable label="Diagram">
        <div class="diagram">
          <svg viewBox="0 0 628 208" preserveAspectRatio="none" aria-hidden="true" focusable="false">
            {[...usual.filter(([, to]) => to !== "CANCELED" && to !== "SKIPPED"), ...extra].map(([from, to]) => (
              <path
                key={`${from}>${to}`}
                class={taken.has(`${from}>${to}`) ? "edge taken" : "edge"}
                d={line(from, to)}
              />
            ))}
          </svg>
          <ul>
            {(Object.keys(places) as JobState[]).map((state) => (
              <Box key={state} state={state} visit={visits.get(state)} isNow={job.state === state} zone={zone} />
            ))}
          </ul>
        </div>
      </ScrollTable>
    </section>
  );
}

interface Visit {
  readonly at: string;
  readonly times: number;
}

interface BoxProps {
  readonly state: JobState;
  readonly visit: Visit | undefined;
  readonly isNow: boolean;
  readonly zone: string | undefined;
}

function Box({ state, visit, isNow, zone }: BoxProps) {
  const { x, y } = places[state];
  const tone = visit === undefined ? "" : ` visited state-${state.toLowerCase()}`;
  return (
    <li
      class={`box${tone}${isNow ? " now" : ""}`}
      style={{ left: `${(x / 628) * 100}%`, top: `${y}px`, width: `${(width / 628) * 100}%` }}
      aria-current={isNow ? "step" : undefined}
    >
      <span class="box-name">
        <Icon name={state} size={13} />
        {stateWords[state]}
        {visit !== undefined && visit.times > 1 ? <span class="box-times">{`×${visit.times}`}</span> : null}
      </span>
      <span class="box-time">
        {visit === undefined ? <span class="hidden">never</span> : <At at={visit.at} zone={zone} />}
      </span>
    </li>
  );
}

function At({ at, zone }: { readonly at: string; readonly zone: string | undefined }) {
  const { text, zone: name } = reading(Date.parse(at), currentTime(), { mode: timeMode.value, zone });
  return <time dateTime={at}>{`${text} ${name}`}</time>;
}

function visitsOf({ events }: ShownJobDetail): ReadonlyMap<JobState, Visit> {
  const visits = new Map<JobState, Visit>();
  for (const { to, at } of inOrder(events)) visits.set(to, { at, times: (visits.get(to)?.times ?? 0) + 1 });
  return visits;
}

const movesOf = ({ events }: ShownJobDetail): readonly (readonly [JobState, JobState])[] => {
  const moves = inOrder(events).flatMap(({ from, to }) => (from === null ? [] : [[from, to] as const]));
  return [...new Map(moves.map((move) => [move.join(">"), move])).values()];
};

const inOrder = (events: ShownJobDetail["events"]): ShownJobDetail["events"] =>
  events.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at) || Number(BigInt(a.id) - BigInt(b.id)));

/** From the side of one box to the side of the other. */
function line(from: JobState, to: JobState): string {
  const [a, b] = [places[from], places[to]];
  if (a.x + width < b.x) {
    const [x1, y1, x2, y2] = [a.x + width, a.y + height / 2, b.x, b.y + height / 2];
    const middle = (x1 + x2) / 2;
    return `M${x1} ${y1} C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
  }
  if (from === "RUNNING" && to === "RETRY_WAIT") return "M396 106 C396 162 390 162 377 162";
  if (from === "RETRY_WAIT" && to === "QUEUED") return "M249 162 C232 162 230 162 230 106";
  const [x1, x2] = [a.x + width / 2, b.x + width / 2];
  const lift = a.y < 30 || b.y < 30 ? 0 : 26;
  return `M${x1} ${a.y} C${x1} ${a.y - lift} ${x2} ${b.y - lift} ${x2} ${b.y}`;
}
