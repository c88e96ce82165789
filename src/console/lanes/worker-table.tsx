import { addresses } from "../address.ts";
import type { IconName } from "../parts/icon.tsx";
import { Tag } from "../parts/tag.tsx";
import { Time } from "../parts/time.tsx";
import { TableHead } from "../parts/table-head.tsx";
import type { WorkerReply } from "../../insight/workers.ts";
import { words } from "../language/words.ts";
import { numberText } from "../language/number.ts";

const looks: Readonly<
  Record<WorkerReply["status"], { icon: IconName; tone: "good" | "bad" | "dim" | "busy"; text: string }>
> = {
  busy: { icon: "RUNNING", tone: "busy", text: words.lanes.statuses.busy },
  idle: { icon: "SUCCESS", tone: "good", text: words.lanes.statuses.idle },
  silent: { icon: "PENDING", tone: "dim", text: words.lanes.statuses.silent },
  lost: { icon: "warning", tone: "bad", text: words.lanes.statuses.lost },
};

/** Who worked in the last hour, and what each runs now. */
export const WorkerTable = ({ workers }: { readonly workers: readonly WorkerReply[] }) => (
  <section class="card" aria-label={words.lanes.workers}>
    <header class="card-head">
      <h2>{words.lanes.workers}</h2>
      <span class="dim">{words.lanes.seenInHour}</span>
    </header>
    <table class="table stacks">
      <TableHead
        columns={[
          words.labels.state,
          words.labels.worker,
          words.labels.lane,
          words.lanes.runningNow,
          words.lanes.seen,
          { name: words.lanes.ended, isNumber: true },
          { name: words.labels.failed, isNumber: true },
          { name: words.lanes.lost, isNumber: true },
        ]}
      />
      <tbody>
        {workers.map((worker) => (
          <Row key={worker.id} worker={worker} />
        ))}
      </tbody>
    </table>
  </section>
);

const Row = ({ worker }: { readonly worker: WorkerReply }) => (
  <tr>
    <td>
      <Tag {...looks[worker.status]} />
    </td>
    <td
      class="mono cut-text"
      title={worker.version === null ? worker.id : words.lanes.ofVersion(worker.id, worker.version)}
    >
      {worker.id}
    </td>
    <td class="dim" data-label={words.labels.lane}>
      {worker.lane}
    </td>
    <td class="wide" data-label={words.lanes.runningNow}>
      {worker.running.slice(0, 3).map((running) => (
        <span key={running.job} class="holder">
          <a class="link" href={addresses.job(running.job)}>
            {running.kind} {`#${running.job}`}
          </a>
          {running.progress === null ? null : <span class="dim">{` ${Math.round(running.progress * 100)} %`}</span>}
          <span class="dim"> {words.lanes.beat(<Time at={running.beatAt} />)}</span>
        </span>
      ))}
      {worker.running.length > 3 ? <span class="dim">{words.many.more(worker.running.length - 3)}</span> : null}
    </td>
    <td data-label={words.lanes.seen}>
      <Time at={worker.seenAt} />
    </td>
    <Count of={words.lanes.ended} value={worker.ended} />
    <Count of={words.labels.failed} value={worker.failed} />
    <Count of={words.lanes.lost} value={worker.lost} />
  </tr>
);

const Count = ({ of, value }: { readonly of: string; readonly value: number }) => (
  <td class="number" data-label={of}>
    {value === 0 ? <span class="nothing">0</span> : numberText(value)}
  </td>
);
