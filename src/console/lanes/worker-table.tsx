import { type Column, column, JobLink, TableCard, Tag, type TagProps, Time } from "../parts/index.ts";
import type { WorkerReply } from "../../insight/workers.ts";
import { words } from "../language/words.ts";

const looks: Readonly<Record<WorkerReply["status"], TagProps>> = {
  busy: { icon: "RUNNING", tone: "busy", text: words.lanes.statuses.busy },
  idle: { icon: "SUCCESS", tone: "good", text: words.lanes.statuses.idle },
  silent: { icon: "PENDING", tone: "dim", text: words.lanes.statuses.silent },
  lost: { icon: "warning", tone: "bad", text: words.lanes.statuses.lost },
};

/** Who worked in the last hour, and what each runs now. */
export const WorkerTable = ({ workers }: { readonly workers: readonly WorkerReply[] }) => (
  <TableCard
    title={words.lanes.workers}
    about={words.lanes.seenInHour}
    look="stacks"
    rows={workers}
    {...{ columns, idOf }}
  />
);

const idOf = ({ id }: WorkerReply): string => id;
const columns: readonly Column<WorkerReply>[] = [
  { name: words.labels.state, by: ({ status }) => status, cell: ({ status }) => <Tag {...looks[status]} /> },
  column.text(words.labels.worker, "id", {
    class: "mono cut-text",
    title: ({ id, version }) => (version === null ? id : words.lanes.ofVersion(id, version)),
  }),
  column.text(words.labels.lane, "lane", { class: "dim", isNamed: true }),
  {
    name: words.lanes.runningNow,
    class: "wide",
    isNamed: true,
    cell: ({ running }) => (
      <>
        {running.slice(0, 3).map(({ job, kind, progress, beatAt }) => (
          <span key={job} class="holder">
            <JobLink id={job} kind={kind} />
            {progress === null ? null : <span class="dim">{` ${Math.round(progress * 100)} %`}</span>}
            <span class="dim"> {words.lanes.beat(<Time at={beatAt} />)}</span>
          </span>
        ))}
        {running.length > 3 ? <span class="dim">{words.many.more(running.length - 3)}</span> : null}
      </>
    ),
  },
  column.time(words.lanes.seen, "seenAt"),
  column.number(words.labels.ended, "ended"),
  column.number(words.states.FAILED, "failed"),
  column.number(words.lanes.statuses.lost, "lost"),
];
