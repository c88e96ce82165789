import { kindOf } from "../../machine/closable-texts.ts";
import { Button, type Column, column, DataTable, Nothing, Paused, Tag, togglePause, zeroOr } from "../parts/index.ts";
import { addresses } from "../address.ts";
import type { LaneReply } from "../../api/shape/overview.ts";
import { words } from "../language/words.ts";

const at = "/lanes/:name";

interface LaneTableProps {
  readonly lanes: readonly LaneReply[];
  readonly onDone: () => void;
}

const names = {
  running: words.states.RUNNING,
  retrying: words.states.RETRY_WAIT,
  scheduled: words.states.PENDING,
  ...words.lanes.columns,
};

const count = (of: "waiting" | "running" | "retrying" | "scheduled"): Column<LaneReply> =>
  column.number(names[of], of, { cell: (lane) => zeroOr(lane[of], lane.atLeast.includes(of)) });

const columns: readonly Column<LaneReply>[] = [
  // The name of a kind among them is a term of the search.
  column.link(words.labels.lane, "name", ({ name }) =>
    addresses.jobsWith(kindOf(name) === null ? `lane:${name}` : name),
  ),
  {
    name: words.labels.state,
    cell: (lane) =>
      lane.paused ? (
        <>
          <Tag icon="pause" tone="warn" text={pausedText(lane)} />
          <Paused of={lane} />
        </>
      ) : lane.blackoutUntil !== null ? (
        <>
          <Tag icon="pause" tone="warn" text={words.lanes.blackout} />
          <Paused of={{ pausedUntil: lane.blackoutUntil, pauseReason: null }} />
        </>
      ) : (
        <Tag icon="SUCCESS" tone="good" text={words.lanes.open} />
      ),
  },
  count("waiting"),
  column.duration(names.oldest, "oldestWaitingMs"),
  count("running"),
  count("retrying"),
  count("scheduled"),
  {
    name: names.held,
    isNumber: true,
    isNamed: true,
    title: ({ held }) => words.lanes.held(held.slot, held.paused, held.predecessors),
    cell: ({ held, atLeast }) => zeroOr(held.slot + held.paused + held.predecessors, atLeast.includes("held")),
  },
  { name: names.concurrency, isNumber: true, isNamed: true, cell: ({ concurrency }) => concurrency ?? <Nothing /> },
];

export const LaneTable = ({ lanes, onDone }: LaneTableProps) => (
  <DataTable
    label={words.places.lanes}
    look="stacks"
    rows={lanes}
    idOf={({ name }) => name}
    columns={[
      ...columns,
      column.actions<LaneReply>((lane) => (
        <Button
          text={isClosed(lane) ? words.shared.resume : words.shared.pause}
          look="small"
          onClick={() => void togglePause({ at, id: lane.name, paused: isClosed(lane) }, onDone)}
          label={words.pause.toggle(isClosed(lane), words.pause.named[at](lane.name))}
        />
      )),
    ]}
  />
);

/** A resume ends either. */
const isClosed = ({ paused, blackoutUntil }: LaneReply): boolean => paused || blackoutUntil !== null;

const pausedText = ({ pausedBy }: LaneReply): string =>
  pausedBy === null ? words.schedules.states.paused : words.lanes.pausedBy(pausedBy);
