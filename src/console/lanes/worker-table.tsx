import { addresses } from "../address.ts";
import type { IconName } from "../parts/icon.tsx";
import { Tag } from "../parts/tag.tsx";
import { Time } from "../parts/time.tsx";
import { TableHead } from "../parts/table-head.tsx";
import type { ShownWorker } from "../shape.ts";
import { counted } from "../words.ts";

const looks: Readonly<
  Record<ShownWorker["status"], { icon: IconName; tone: "good" | "bad" | "dim" | "busy"; text: string }>
> = {
  busy: { icon: "RUNNING", tone: "busy", text: "Busy" },
  idle: { icon: "SUCCESS", tone: "good", text: "Idle" },
  silent: { icon: "PENDING", tone: "dim", text: "Silent" },
  lost: { icon: "warning", tone: "bad", text: "Lost" },
};

/** Who worked in the last hour, and what each runs now. */
export const WorkerTable = ({ workers }: { readonly workers: readonly ShownWorker[] }) => (
  <section class="card" aria-label="Workers">
    <header class="card-head">
      <h2>Workers</h2>
      <span class="dim">seen in the last hour</span>
    </header>
    <table class="table stacks">
      <TableHead
        columns={[
          "State",
          "Worker",
          "Lane",
          "Running now",
          "Seen",
          { name: "Ended", isNumber: true },
          { name: "Failed", isNumber: true },
          { name: "Lost", isNumber: true },
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

const Row = ({ worker }: { readonly worker: ShownWorker }) => (
  <tr>
    <td>
      <Tag {...looks[worker.status]} />
    </td>
    <td class="mono cut-text" title={worker.version === null ? worker.id : `${worker.id}, version ${worker.version}`}>
      {worker.id}
    </td>
    <td class="dim" data-label="Lane">
      {worker.lane}
    </td>
    <td class="wide" data-label="Running now">
      {worker.running.slice(0, 3).map((running) => (
        <span key={running.job} class="holder">
          <a class="link" href={addresses.job(running.job)}>
            {running.kind} {`#${running.job}`}
          </a>
          {running.progress === null ? null : <span class="dim">{` ${Math.round(running.progress * 100)} %`}</span>}
          <span class="dim">
            {" "}
            beat <Time at={running.beatAt} />
          </span>
        </span>
      ))}
      {worker.running.length > 3 ? <span class="dim">{`and ${worker.running.length - 3} more`}</span> : null}
    </td>
    <td data-label="Seen">
      <Time at={worker.seenAt} />
    </td>
    <Count of="Ended" value={worker.ended} />
    <Count of="Failed" value={worker.failed} />
    <Count of="Lost" value={worker.lost} />
  </tr>
);

const Count = ({ of, value }: { readonly of: string; readonly value: number }) => (
  <td class="number" data-label={of}>
    {value === 0 ? <span class="nothing">0</span> : counted(value)}
  </td>
);
