import { StateBadge } from "../parts/state-badge.tsx";
import { ScrollTable } from "../parts/scroll-table.tsx";
import { Time } from "../parts/time.tsx";
import { TableHead } from "../parts/table-head.tsx";
import type { ShownJobDetail } from "../shape.ts";
import { reasonText } from "../words.ts";

/** What is kept of its changes of state, the newest first: how attempts ended, and what had a reason. */
export function History({ job, zone }: { readonly job: ShownJobDetail; readonly zone?: string | undefined }) {
  const events = job.events.toReversed();
  return (
    <section class="card" aria-label="Events">
      <header class="card-head">
        <h2>Events</h2>
        <span class="dim">{`${events.length}, the newest first`}</span>
      </header>
      <ScrollTable label="Changes">
        <table class="table">
          <TableHead
            columns={[
              "At",
              "State",
              { name: "Attempt", isNumber: true },
              "Why",
              { name: "Worker", width: "col-worker" },
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
                <td>{reasonText(event.reason)}</td>
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
