import { addresses } from "../address.ts";
import { Paused } from "../parts/paused.tsx";
import { Tag } from "../parts/tag.tsx";
import { TableHead } from "../parts/table-head.tsx";
import type { LaneReply } from "../../api/shape/overview.ts";
import { durationText } from "../time.ts";
import { words } from "../language/words.ts";
import { numberText } from "../language/number.ts";

interface LaneTableProps {
  readonly lanes: readonly LaneReply[];
  readonly onToggle: (lane: LaneReply) => void;
}

const { columns: names } = words.lanes;

export const LaneTable = ({ lanes, onToggle }: LaneTableProps) => (
  <table class="table stacks">
    <TableHead
      columns={[
        words.labels.lane,
        words.labels.state,
        ...Object.values(names).map((name) => ({ name, isNumber: true })),
        { name: words.shared.actions, isHidden: true },
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
              <>
                <Tag icon="pause" tone="warn" text={pausedText(lane)} />
                <Paused of={lane} />
              </>
            ) : (
              <Tag icon="SUCCESS" tone="good" text={words.lanes.open} />
            )}
          </td>
          <Count of={names.waiting} value={lane.waiting} isMore={lane.atLeast.includes("waiting")} />
          <td class="number" data-label={names.oldest}>
            {lane.oldestWaitingMs === null ? <span class="nothing">–</span> : durationText(lane.oldestWaitingMs)}
          </td>
          <Count of={names.running} value={lane.running} isMore={lane.atLeast.includes("running")} />
          <Count of={names.retrying} value={lane.retrying} isMore={lane.atLeast.includes("retrying")} />
          <Count of={names.scheduled} value={lane.scheduled} isMore={lane.atLeast.includes("scheduled")} />
          <td class="number" data-label={names.held} title={heldText(lane)}>
            {zeroOr(lane.held.slot + lane.held.paused + lane.held.predecessors, lane.atLeast.includes("held"))}
          </td>
          <td class="number" data-label={names.concurrency}>
            {lane.concurrency ?? <span class="nothing">–</span>}
          </td>
          <td>
            <span class="actions">
              <button
                type="button"
                class="button small"
                onClick={() => onToggle(lane)}
                aria-label={words.lanes.toggle(lane.paused, lane.name)}
              >
                {lane.paused ? words.shared.resume : words.shared.pause}
              </button>
            </span>
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

const Count = ({ of, value, isMore }: { readonly of: string; readonly value: number; readonly isMore: boolean }) => (
  <td class="number" data-label={of}>
    {zeroOr(value, isMore)}
  </td>
);

/** A zero steps back, so that what is not zero stands out. */
const zeroOr = (count: number, isMore: boolean) =>
  count === 0 && !isMore ? <span class="nothing">0</span> : numberText({ count, isMore });

const pausedText = ({ pausedBy }: LaneReply): string =>
  pausedBy === null ? words.lanes.paused : words.lanes.pausedBy(pausedBy);

const heldText = ({ held }: LaneReply): string => words.lanes.held(held.slot, held.paused, held.predecessors);
