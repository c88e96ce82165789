/** Misuse that must not compile: `tsc` reports an expectation that no longer fails. Nothing here runs. */
import { defineApp, defineJob, defineSchedule, type ScheduleOptions } from "belfry";
import { z } from "zod";

const sweep = defineJob({ id: "sweep", payload: z.void(), run: () => {} });
const quiz = defineJob({
  id: "quiz",
  payload: z.object({ day: z.string(), tries: z.number().default(3) }),
  run: () => {},
});
const anything = defineJob({ id: "anything", payload: z.unknown(), run: () => {} });

const schedules = [
  defineSchedule({ id: "a", cron: "* * * * *", timezone: "UTC", run: sweep }),
  defineSchedule({ id: "b", cron: "0 8 * * 1-5", timezone: "Asia/Seoul", run: quiz, payload: (o) => ({ day: o.day }) }),
  defineSchedule({ id: "c", every: "90s", run: quiz, payload: { day: "2026-11-21" } }),
  defineSchedule({ id: "d", every: { default: "5m", prod: "1m" }, run: sweep, enabled: { prod: true, dev: true } }),
  defineSchedule({ id: "e", at: "2026-12-31T23:59:00+09:00", run: sweep }),
  defineSchedule({ id: "f", every: "1h", run: sweep, misfire: { all: { maxAge: "6h", maxCount: 10, pace: "2s" } } }),
  defineSchedule({ id: "g", every: "1h", run: anything, payload: 7 }),
  defineSchedule({ id: "i", every: "1h", run: sweep, startDeadline: "10m" }),
  defineSchedule({
    id: "h",
    cron: "30 2 * * *",
    timezone: "Europe/Paris",
    dst: { gap: "skip" },
    run: sweep,
    overlap: "skip",
  }),
];
defineApp({ name: "ok", schedules });
export const ownSchedule = <I>(options: ScheduleOptions<I>): unknown => defineSchedule(options);
export const named = defineSchedule<void>({ id: "named", every: "1h", run: sweep });

// @ts-expect-error a four-field cron
defineSchedule({ id: "a", cron: "* * * *", timezone: "UTC", run: sweep });
defineSchedule({
  id: "a",
  // @ts-expect-error its timezone is missing
  cron: "* * * * *",
  run: sweep,
});
// @ts-expect-error elapsed time has no timezone
defineSchedule({ id: "a", every: "1m", timezone: "UTC", run: sweep });
// @ts-expect-error elapsed time knows no clock changes
defineSchedule({ id: "a", every: "1m", dst: { gap: "skip" }, run: sweep });
// @ts-expect-error two expressions at once
defineSchedule({ id: "a", cron: "* * * * *", timezone: "UTC", every: "1m", run: sweep });
// @ts-expect-error no expression at all
defineSchedule({ id: "a", run: sweep });
// @ts-expect-error "10 minutes" is not a duration
defineSchedule({ id: "a", every: "10 minutes", run: sweep });
// @ts-expect-error a per-stage rate is a duration
defineSchedule({ id: "a", every: { default: 5 }, run: sweep });
// @ts-expect-error an instant has a time
defineSchedule({ id: "a", at: "2026-12-31", run: sweep });
defineSchedule({
  id: "a",
  every: "1m",
  // @ts-expect-error its payload is missing
  run: quiz,
});
// @ts-expect-error a wrong payload
defineSchedule({ id: "a", every: "1m", run: quiz, payload: { day: 7 } });
// @ts-expect-error a payload function that gives a wrong payload
defineSchedule({ id: "a", every: "1m", run: quiz, payload: (o) => ({ day: o.missedCount }) });
// @ts-expect-error a payload for a job that takes none
defineSchedule({ id: "a", every: "1m", run: sweep, payload: { day: "2026-11-21" } });
// @ts-expect-error an unknown field of the occurrence
defineSchedule({ id: "a", every: "1m", run: quiz, payload: (o) => ({ day: o.today }) });
// @ts-expect-error a wrong enum value: misfire
defineSchedule({ id: "a", every: "1m", run: sweep, misfire: "some" });
// @ts-expect-error a deadline in words
defineSchedule({ id: "a", every: "1m", run: sweep, startDeadline: "10 minutes" });
// @ts-expect-error a wrong enum value: overlap
defineSchedule({ id: "a", every: "1m", run: sweep, overlap: "cancel" });
// @ts-expect-error a wrong enum value: dst
defineSchedule({ id: "a", cron: "* * * * *", timezone: "UTC", dst: { gap: "jump" }, run: sweep });
// @ts-expect-error enabled is yes or no
defineSchedule({ id: "a", every: "1m", run: sweep, enabled: { prod: "on" } });
// @ts-expect-error a schedule runs a job, not a function
defineSchedule({ id: "a", every: "1m", run: () => {} });
// @ts-expect-error a schedule runs a job, not its id
defineSchedule({ id: "a", every: "1m", run: "sweep" });
// @ts-expect-error a misspelt option
defineSchedule({ id: "a", every: "1m", run: sweep, timeZone: "UTC" });
