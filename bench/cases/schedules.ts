import { nextFire, type FirePattern } from "../../src/calendar/timetable.ts";
import { type Figure, measured, rounds } from "../measure.ts";

const many = 10_000;

/**
 * How long it takes to know when they fire next; whether a tick feels schedules that are not due, `growth` says. Every round asks about
 * another year, so that no offset of a zone is known from the round before.
 */
export async function schedules(): Promise<readonly Figure[]> {
  const whens = Array.from({ length: many }, (_, n) => whenOf(n));
  const seconds = Array.from({ length: rounds }, (_, round) => {
    const after = Date.UTC(2026 + round, 0, 15, 12, 30);
    const startedMs = performance.now();
    const fires = whens.filter((when) => nextFire(when, after) !== null).length;
    if (fires !== many) throw new Error(`${many - fires} schedules have no next fire`);
    return (performance.now() - startedMs) / 1_000;
  });
  return [measured(`schedules: next fire of ${many.toLocaleString("en-US")}`, "s", seconds, { valueMax: 0.5 })];
}

/** Minutes, hours, days, weekdays and month ends, over all zones of the platform. */
function whenOf(n: number): FirePattern {
  const zones = Intl.supportedValuesOf("timeZone");
  const minute = n % 60;
  const hour = Math.floor(n / 60) % 24;
  const texts = [
    `${minute} * * * *`,
    `${minute} ${hour} * * *`,
    `${minute} ${hour} * * MON-FRI`,
    `${minute} ${hour} L * *`,
    `${minute} ${hour} * * FRI#2`,
    `*/${1 + (n % 30)} ${hour} * * *`,
  ] as const;
  return {
    expression: { form: "cron", cron: texts[n % texts.length] ?? texts[0] },
    timezone: zones[n % zones.length] ?? "UTC",
    dst: { gap: "auto", overlap: "auto" },
    startAt: null,
    endAt: null,
  };
}
