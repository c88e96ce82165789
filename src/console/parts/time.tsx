import { currentTime, now } from "../clock.ts";
import { fully, myZone, reading, timeMode } from "../time.ts";

interface TimeProps {
  /** ISO 8601, or null for a time that has not come. */
  readonly at: string | null;
  /** IANA name of the schedule's zone, for times that belong to one. */
  readonly zone?: string | undefined;
}

/** Writes the full time only under the pointer: thousands are scrolled past without being read. */
export function explainTimes(): void {
  document.addEventListener("pointerover", ({ target }) => {
    const time = timeAt(target);
    if (time !== null) time.title = fully(Date.parse(time.dateTime), time.dataset["zone"] ?? myZone);
  });
  // Its element may show another time later.
  document.addEventListener("pointerout", ({ target }) => timeAt(target)?.removeAttribute("title"));
}

const timeAt = (target: EventTarget | null): HTMLTimeElement | null =>
  target instanceof Element ? target.closest("time") : null;

/** A time as the switch in the corner says, with its zone; the whole of it in both zones under the pointer. */
export function Time({ at, zone }: TimeProps) {
  if (at === null) return <span class="nothing">–</span>;
  const mode = timeMode.value;
  // Only a relative time changes while nothing else does.
  const from = mode === "relative" ? now.value : currentTime();
  const instant = Date.parse(at);
  const { text, zone: name } = reading(instant, from, { mode, zone });
  return (
    <time dateTime={at} data-zone={zone}>
      {text}
      {name === "" ? null : <span class="zone"> {name}</span>}
    </time>
  );
}
