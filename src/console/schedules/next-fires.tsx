import type { FireTime } from "../client.ts";
import { ScrollTable } from "../parts/scroll-table.tsx";
import { currentTime } from "../clock.ts";
import { TableHead } from "../parts/table-head.tsx";
import type { ScheduleReply } from "../../api/shape/schedule.ts";
import { inZone, myZone, relative } from "../time.ts";
import { words } from "../language/words.ts";

interface NextFiresProps {
  readonly times: readonly FireTime[];
  readonly schedule: Pick<ScheduleReply, "paused" | "timezone">;
}

/** The next times side by side: in the schedule's zone and in the reader's own. */
export const NextFires = ({ times, schedule }: NextFiresProps) => (
  <section class="card" aria-label={words.occurrences.next}>
    <header class="card-head">
      <h2>{words.occurrences.next}</h2>
      {schedule.paused ? <span class="dim">{words.occurrences.pausedSkipped}</span> : null}
    </header>
    {times.length === 0 ? (
      <p class="card-empty">{words.occurrences.hasEnded}</p>
    ) : (
      <NextTable times={times} zone={schedule.timezone} />
    )}
  </section>
);

/** Times in their zone and in the reader's own, each with what a clock change does to it. */
export const NextTable = ({ times, zone }: { readonly times: readonly FireTime[]; readonly zone: string }) => (
  <ScrollTable label={words.occurrences.times}>
    <table class="table">
      <TableHead
        columns={[
          words.occurrences.in(zone),
          ...(zone === myZone ? [] : [words.occurrences.inYours(myZone)]),
          { name: words.occurrences.fromNow, isNumber: true },
        ]}
      />
      <tbody>
        {times.map(({ at, fires, change }) => (
          <tr key={at}>
            <td>
              {zoned(at, zone)}
              {change === null ? null : (
                <p class={fires ? "dim small" : "small tone-warn"}>{words.occurrences.clockChange(change)}</p>
              )}
            </td>
            {zone === myZone ? null : <td>{zoned(at, myZone)}</td>}
            <td class="number dim">{relative(Date.parse(at) - currentTime())}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </ScrollTable>
);

function zoned(at: string, zone: string) {
  const { text, zone: name } = inZone(Date.parse(at), currentTime(), zone);
  return (
    <time dateTime={at}>
      {text} <span class="zone">{name}</span>
    </time>
  );
}
