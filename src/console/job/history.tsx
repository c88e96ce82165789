import { StateBadge } from "../parts/state-badge.tsx";
import { ScrollTable } from "../parts/scroll-table.tsx";
import { Time } from "../parts/time.tsx";
import { TableHead } from "../parts/table-head.tsx";
import type { JobDetailReply } from "../../api/shape/job.ts";
import { words } from "../language/words.ts";
import { reasonText } from "../language/spoken.ts";

/** Why it moved, and who asked for it. */
const movedBy = ({ reason, caller }: JobDetailReply["events"][number]): string =>
  caller === null ? reasonText(reason) : `${reasonText(reason)} by ${caller}`;

/** What is kept of its changes of state, the newest first: how attempts ended, and what had a reason. */
export function History({ job, zone }: { readonly job: JobDetailReply; readonly zone?: string | undefined }) {
  const events = job.events.toReversed();
  return (
    <section class="card" aria-label={words.job.events}>
      <header class="card-head">
        <h2>{words.job.events}</h2>
        <span class="dim">{words.job.newestFirst(events.length)}</span>
      </header>
      <ScrollTable label={words.job.changes}>
        <table class="table">
          <TableHead
            columns={[
              words.labels.at,
              words.labels.state,
              { name: words.job.attempt, isNumber: true },
              words.labels.why,
              { name: words.labels.worker, width: "col-worker" },
            ]}
          />
          <tbody>
            {events.map((event) => (
              <tr key={event.id}>
                <td>
                  <Time at={event.at} zone={zone} />
                </td>
                <td>
                  <StateBadge state={event.to} />
                </td>
                <td class="number">{event.attempt === 0 ? <span class="nothing">–</span> : event.attempt}</td>
                <td>{movedBy(event)}</td>
                <td class="mono dim cut" title={event.worker ?? undefined}>
                  {event.worker}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollTable>
    </section>
  );
}
