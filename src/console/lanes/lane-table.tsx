import { addresses } from "../address.ts";
import { Tag } from "../parts/tag.tsx";
import { TableHead } from "../parts/table-head.tsx";
import type { ShownLane } from "../shape.ts";
import { durationText } from "../time.ts";
import { counted } from "../words.ts";

interface LaneTableProps {
  readonly lanes: readonly ShownLane[];
  readonly onToggle: (lane: ShownLane) => void;
}

const counts = ["Waiting", "Oldest waits", "Running", "Retrying", "Scheduled", "Held", "Workers at most"];

export const LaneTable = ({ lanes, onToggle }: LaneTableProps) => (
  <table class="table stacks">
    <TableHead
      columns={[
        "Lane",
        "State",
        ...counts.map((name) => ({ name, isNumber: true })),
        { name: "Actions", isHidden: true },
      ]}
    />
    <tbody>
      {lanes.map((lane) => (
        <tr key={lane.name}>
          <td>
            <a class="row-link" href={addresses.jobsWith(`lane:${lane.name}`)}>
              {lane.name}
            </a>
          </td>
          <td>
            {lane.paused ? (
              <Tag icon="pause" tone="warn" text={pausedText(lane)} />
            ) : (
              <Tag icon="SUCCESS" tone="good" text="Open" />
            )}
          </td>
          <Count of="Waiting" value={lane.waiting} />
          <td class="number" data-label="Oldest waits">
            {lane.oldestWaitingMs === null ? <span class="nothing">–</span> : durationText(lane.oldestWaitingMs)}
          </td>
          <Count of="Running" value={lane.running} />
          <Count of="Retrying" value={lane.retrying} />
          <Count of="Scheduled" value={lane.scheduled} />
          <td class="number" data-label="Held" title={heldText(lane)}>
            {zeroOr(lane.held.slot + lane.held.paused + lane.held.predecessors)}
          </td>
          <td class="number" data-label="Workers at most">
            {lane.concurrency ?? <span class="nothing">–</span>}
          </td>
          <td>
            <span class="actions">
              <button
                type="button"
                class="button small"
                onClick={() => onToggle(lane)}
                aria-label={`${lane.paused ? "Resume" : "Pause"} lane ${lane.name}`}
              >
                {lane.paused ? "Resume" : "Pause"}
              </button>
            </span>
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

const Count = ({ of, value }: { readonly of: string; readonly value: number }) => (
  <td class="number" data-label={of}>
    {zeroOr(value)}
  </td>
);

/** A zero steps back, so that what is not zero stands out. */
const zeroOr = (value: number) => (value === 0 ? <span class="nothing">0</span> : counted(value));

const pausedText = ({ pausedBy }: ShownLane): string => (pausedBy === null ? "Paused" : `Paused by ${pausedBy}`);

const heldText = ({ held }: ShownLane): string =>
  `${held.slot} wait for a slot, ${held.paused} are paused, ${held.predecessors} wait for predecessors`;
