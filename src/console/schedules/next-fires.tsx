import { Card, DataTable } from "../parts/index.ts";
import { currentTime } from "../clock.ts";
import type { NextTimesReply, ScheduleReply } from "../../api/shape/schedule.ts";
import { inZone, myZone, relative } from "../time.ts";
import { follows, plainWords } from "./plain-words.ts";
import { words } from "../language/words.ts";

/** One that does not fire has a change of the clock that says why. */
export type FireTime = NextTimesReply["times"][number];

interface NextFiresProps {
  readonly times: readonly FireTime[];
  readonly schedule: Pick<ScheduleReply, "expression" | "paused" | "timezone">;
}

/** The next times side by side: in the schedule's zone and in the reader's own. */
export const NextFires = ({ times, schedule }: NextFiresProps) => (
  <Card title={words.occurrences.next} {...(schedule.paused ? { about: words.occurrences.pausedSkipped } : {})}>
    {follows(schedule.expression) ? (
      <p>{plainWords(schedule.expression)}</p>
    ) : (
      <NextTable times={times} zone={schedule.timezone} />
    )}
  </Card>
);

/** Times in their zone and in the reader's own, each with what a clock change does to it. */
export const NextTable = ({ times, zone }: { readonly times: readonly FireTime[]; readonly zone: string }) => (
  <DataTable
    label={words.upcoming.columns.times}
    none={words.occurrences.hasEnded}
    rows={times}
    idOf={({ at }) => at}
    columns={[
      {
        name: words.occurrences.in(zone),
        cell: ({ at, effectiveAt, fires, change, exclusion }) => (
          <>
            {zoned(effectiveAt ?? at, zone)}
            {effectiveAt === null ? null : (
              <p class="dim small">
                {words.upcoming.spreadFrom} {zoned(at, zone)}
              </p>
            )}
            {exclusion === null ? null : (
              <p class="small tone-warn">{words.occurrences.excluded(exclusion.calendar, exclusion.movedTo)}</p>
            )}
            {change === null ? null : (
              <p class={fires ? "dim small" : "small tone-warn"}>{words.occurrences.clockChange(change)}</p>
            )}
          </>
        ),
      },
      ...(zone === myZone
        ? []
        : [
            {
              name: words.occurrences.inYours(myZone),
              cell: ({ at, effectiveAt }: FireTime) => zoned(effectiveAt ?? at, myZone),
            },
          ]),
      {
        name: words.occurrences.fromNow,
        isNumber: true,
        class: zone === myZone ? "dim" : "dim wide-only",
        cell: ({ at, effectiveAt }) => relative(Date.parse(effectiveAt ?? at) - currentTime()),
      },
    ]}
  />
);

function zoned(at: string, zone: string) {
  const { text, zone: name } = inZone(Date.parse(at), currentTime(), zone);
  return (
    <time dateTime={at}>
      {text} <span class="zone">{name}</span>
    </time>
  );
}
