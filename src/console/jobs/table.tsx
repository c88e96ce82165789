import { addresses } from "../address.ts";
import { isNarrow } from "../narrow.ts";
import { JobBadge } from "../parts/state-badge.tsx";
import { Time } from "../parts/time.tsx";
import { rowsBeyond, VirtualRows } from "../parts/virtual-rows.tsx";
import { durationText } from "../time.ts";
import type { ListedJob, JobRows } from "./list.ts";
import type { Selection } from "./selection.ts";
import { words } from "../language/words.ts";
import { attemptsText } from "../language/spoken.ts";

const names = { ...words.labels, ...words.jobs.columns };

const columns = [
  { name: <span class="hidden">{names.marked}</span> },
  { name: names.state },
  { name: names.kind },
  { name: names.key },
  { name: names.lane },
  { name: names.attempts, isNumber: true },
  { name: names.due },
  { name: names.took, isNumber: true },
  { name: names.error },
];
/** Three lines. */
const narrowRowPixels = 72;
const templateWith = (kind: string): string =>
  `34px 124px ${kind} minmax(90px, 1.1fr) 92px 74px 140px 82px minmax(80px, 1.6fr)`;
const template = templateWith("minmax(150px, 1.4fr)");
/** Ids of a cell have 13 digits. */
const longTemplate = templateWith("minmax(250px, 2fr)");
const longIdDigits = 10;

interface JobTableProps {
  readonly rows: JobRows;
  readonly selection: Selection;
  /** The row that keys act on; -1 for none. */
  readonly current: number;
}

export const JobTable = ({ rows, selection, current }: JobTableProps) => (
  <VirtualRows
    label={words.places.jobs}
    columns={columns}
    template={(rows.jobs[0]?.id.length ?? 0) > longIdDigits ? longTemplate : template}
    height={isNarrow.value ? narrowRowPixels : undefined}
    rows={rows.jobs.length}
    current={current}
    onView={(_, to) => {
      if (to >= rows.jobs.length - rowsBeyond) rows.more();
    }}
    idOf={(index) => rows.jobs[index]?.id ?? ""}
    row={(index) => {
      const job = rows.jobs[index];
      return job === undefined ? null : (
        <Row job={job} index={index} isCurrent={index === current} selection={selection} />
      );
    }}
  />
);

interface RowProps {
  readonly job: ListedJob;
  readonly index: number;
  readonly isCurrent: boolean;
  readonly selection: Selection;
}

const Row = ({ job, index, isCurrent, selection }: RowProps) => (
  <div
    class={`row job-row${isCurrent ? " current" : ""}${selection.has(job.id) ? " chosen" : ""}`}
    role="row"
    data-id={job.id}
    aria-rowindex={index + 2}
  >
    <span role="cell" class="cell-check">
      <input
        type="checkbox"
        aria-label={words.jobs.mark(`${job.kind} ${job.id}`)}
        checked={selection.has(job.id)}
        onClick={(event) => selection.toggle(index, event.shiftKey)}
      />
    </span>
    <span role="cell" class="state-cell">
      <JobBadge job={job} />
    </span>
    <span role="cell" class="kind-cell">
      <a class="row-link" href={addresses.job(job.id)} title={`${job.kind} ${job.id}`}>
        <span class="row-kind">{job.kind}</span> <span class="dim">{`#${job.id}`}</span>
      </a>
    </span>
    <span role="cell" class="mono dim" title={nameOf(job)}>
      {nameOf(job)}
    </span>
    <span role="cell" class="dim wide-only">
      {job.lane}
    </span>
    <span role="cell" class="number wide-only" title={attemptsText(job)}>
      {job.attempt === 0 ? <span class="nothing">–</span> : job.attempt}
    </span>
    <span role="cell" class="due-cell">
      <Time at={job.dueAt} />
    </span>
    <span role="cell" class="number wide-only">
      {took(job)}
    </span>
    <span role="cell" class="dim last-error" title={job.error?.message ?? undefined}>
      {job.error === null ? null : <ErrorText {...job.error} />}
    </span>
  </div>
);

const ErrorText = ({ code, message }: { readonly code: string; readonly message: string | null }) => (
  <>
    <span class="mono error-code">{code}</span> {message}
  </>
);

/** Its name among jobs of its kind: the key, or the task in a run. */
function nameOf({ key, run, task }: ListedJob): string {
  if (key !== null) return key;
  return task === null ? "" : words.jobs.taskInRun(task, run ?? "");
}

function took({ startedAt, finishedAt, state }: ListedJob) {
  if (startedAt === null || finishedAt === null || state === "CANCELED") return <span class="nothing">–</span>;
  return durationText(Math.max(0, Date.parse(finishedAt) - Date.parse(startedAt)));
}
