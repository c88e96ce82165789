import { currentTime, now } from "../clock.ts";
import { fully, myZone, reading, timeMode } from "../time.ts";

interface TimeProps {
  /** ISO 8601, or null for a time that has not come. */
  readonly at: string | null;
  /** IANA name of the schedule's zone, for times that belong to one. */
  readonly zone?: string | undefined;
}

/** A time as the switch in the corner says, with its zone; the whole of it in both zones under the pointer. */
export function Time({ at, zone }: TimeProps) {
  if (at === null) return <span class="nothing">–</span>;
  const mode = timeMode.value;
  // Only a relative time changes while nothing else does.
  const from = mode === "relative" ? now.value : currentTime();
  const instant = Date.parse(at);
  const { text, zone: name } = reading(instant, from, { mode, zone });
  return (
    <time dateTime={at} title={fully(instant, zone ?? myZone)}>
      {text}
      {name === "" ? null : <span class="zone"> {name}</span>}
    </time>
  );
}
