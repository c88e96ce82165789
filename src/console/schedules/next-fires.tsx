import type { FireTime } from "../client.ts";
import { ScrollTable } from "../parts/scroll-table.tsx";
import { currentTime } from "../clock.ts";
import { Loaded } from "../parts/loaded.tsx";
import { TableHead } from "../parts/table-head.tsx";
import type { Resource } from "../resource.ts";
import type { ShownSchedule } from "../shape.ts";
import { inZone, myZone, relative } from "../time.ts";

interface NextFiresProps {
  readonly next: Resource<readonly FireTime[]>;
  readonly schedule: Pick<ShownSchedule, "paused" | "timezone">;
}

/** The next times side by side: in the schedule's zone and in the reader's own. */
export const NextFires = ({ next, schedule }: NextFiresProps) => (
  <section class="card" aria-label="Next times">
    <header class="card-head">
      <h2>Next times</h2>
      {schedule.paused ? <span class="dim">paused: they will be skipped</span> : null}
    </header>
    <Loaded of={next}>
      {(times) =>
        times.length === 0 ? (
          <p class="card-empty">It has ended</p>
        ) : (
          <NextTable times={times} zone={schedule.timezone} />
        )
      }
    </Loaded>
  </section>
);

const NextTable = ({ times, zone }: { readonly times: readonly FireTime[]; readonly zone: string }) => (
  <ScrollTable label="Times">
    <table class="table">
      <TableHead
        columns={[
          `In ${zone}`,
          ...(zone === myZone ? [] : [`In your zone, ${myZone}`]),
          { name: "From now", isNumber: true },
        ]}
      />
      <tbody>
        {times.map(({ at, fires, note }) => (
          <tr key={at}>
            <td>
              {zoned(at, zone)}
              {note === null ? null : <p class={fires ? "dim small" : "small tone-warn"}>{note}</p>}
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
