import { addresses } from "../address.ts";
import { isNarrow } from "../narrow.ts";
import {
  type Column,
  DataTable,
  ErrorText,
  JobBadge,
  MiddleCut,
  NumberedLink,
  orNothing,
  rowsBeyond,
  Time,
} from "../parts/index.ts";
import { durationText } from "../time.ts";
import type { JobReply } from "../../api/shape/job.ts";
import type { JobRows } from "./list.ts";
import type { Selection } from "./selection.ts";
import { words } from "../language/words.ts";
import { attemptsText } from "../language/spoken.ts";

const names = { ...words.labels, ...words.jobs.columns };

/** Of one line; of three in a narrow window. */
const rowPixels = { wide: 34, narrow: 72 };
/** Ids of a cell have 13 digits. */
const longIdDigits = 10;

interface JobTableProps {
  readonly rows: JobRows;
  readonly selection: Selection;
  /** The row that keys act on; -1 for none. */
  readonly current: number;
}

export const JobTable = ({ rows, selection, current }: JobTableProps) => (
  <DataTable
    label={words.places.jobs}
    columns={columnsOf(selection, (rows.jobs[0]?.id.length ?? 0) > longIdDigits)}
    look="job-rows"
    height={isNarrow.value ? rowPixels.narrow : rowPixels.wide}
    rows={rows.jobs}
    rowClass={({ id }) => `job-row${selection.has(id) ? " chosen" : ""}`}
    current={current}
    canHide
    onView={(_, to) => {
      if (to >= rows.jobs.length - rowsBeyond) rows.more();
    }}
    idOf={({ id }) => id}
  />
);

const columnsOf = (selection: Selection, isLong: boolean): readonly Column<JobReply>[] => [
  {
    name: names.marked,
    isHidden: true,
    width: "34px",
    class: "cell-check",
    cell: ({ id, kind }, index) => (
      <input
        type="checkbox"
        aria-label={words.jobs.mark(`${kind} ${id}`)}
        checked={selection.has(id)}
        onClick={(event) => selection.toggle(index, event.shiftKey)}
      />
    ),
  },
  { name: names.state, width: "124px", class: "state-cell", cell: (job) => <JobBadge job={job} /> },
  {
    name: names.kind,
    width: isLong ? "minmax(250px, 2fr)" : "minmax(150px, 1.4fr)",
    class: "kind-cell",
    cell: ({ id, kind }) => <NumberedLink to={addresses.job(id)} {...{ kind, id }} />,
  },
  {
    name: names.key,
    width: "minmax(90px, 1.1fr)",
    class: "mono dim",
    cell: (job) => <MiddleCut text={nameOf(job)} />,
  },
  { name: names.lane, width: "92px", class: "dim wide-only", cell: ({ lane }) => lane },
  {
    name: names.attempts,
    width: "74px",
    isNumber: true,
    class: "wide-only",
    title: attemptsText,
    cell: ({ attempt }) => orNothing(attempt),
  },
  { name: names.due, width: "140px", class: "due-cell", cell: ({ dueAt }) => <Time at={dueAt} /> },
  { name: names.took, width: "82px", isNumber: true, class: "wide-only", cell: (job) => orNothing(took(job)) },
  {
    name: names.error,
    width: "minmax(80px, 1.6fr)",
    class: "dim last-error",
    title: ({ error }) => error?.message ?? undefined,
    cell: ({ error }) => (error === null ? null : <ErrorText {...error} />),
  },
];

/** Its name among jobs of its kind: the key, or the task in a run. */
function nameOf({ key, run, task }: JobReply): string {
  if (key !== null) return key;
  return task === null ? "" : words.jobs.taskInRun(task, run ?? "");
}

const took = ({ startedAt, finishedAt, state }: JobReply): string | null =>
  startedAt === null || finishedAt === null || state === "CANCELED"
    ? null
    : durationText(Math.max(0, Date.parse(finishedAt) - Date.parse(startedAt)));
