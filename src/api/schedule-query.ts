import { contractLimits } from "../machine/contract-limits.ts";
import { weekdayNames } from "../machine/schedule.ts";
import { z } from "zod";
import { durationUpTo, instant, nameText, requestKey, text, whole } from "./query-fields.ts";

const pace = durationUpTo(contractLimits.misfireAgeMsMax, "Between the due times of two jobs.").optional();

const misfire = z.union([
  z.enum(["skip", "latest", "all"]),
  z.strictObject({
    all: z.strictObject({
      maxAge: z.string().optional(),
      maxCount: z.number().optional(),
      pace: z.string().optional(),
    }),
  }),
]);

const calendar = z.strictObject({
  id: nameText().optional(),
  dates: z.array(z.string()).optional(),
  weekdays: z.array(z.enum(weekdayNames)).optional(),
  yearly: z.array(z.string()).optional(),
  ics: z.string().optional(),
});

/** The options of `defineSchedule`; what the values mean is checked by the core, all problems together. */
const settings = {
  kind: nameText(),
  payload: z.unknown().optional(),
  cron: text(contractLimits.cronCharactersMax).optional(),
  timezone: nameText().optional(),
  every: text(contractLimits.cronCharactersMax).optional(),
  at: text(contractLimits.idCharactersMax).optional(),
  dst: z.strictObject({ gap: z.string().optional(), overlap: z.string().optional() }).optional(),
  misfire: misfire.optional(),
  overlap: z.string().optional(),
  except: z.array(calendar).optional(),
  only: calendar.optional(),
  onExcluded: z.string().optional(),
  startDeadline: z.string().optional(),
  spread: z.string().optional(),
  objective: z
    .strictObject({
      onTime: z.string().optional(),
      endsWithin: z.string().optional(),
      share: z.number(),
      over: z.string().optional(),
    })
    .optional(),
  startAt: z.string().optional(),
  endAt: z.string().optional(),
  enabled: z.boolean().optional(),
};

export const newScheduleBody = z.strictObject({ id: text(200), ...settings });
export const changedScheduleBody = z.strictObject(settings);
const { kind, payload: _payload, cron: _cron, every: _every, at: _at, ...others } = settings;
export const patchedScheduleBody = z.strictObject({
  ...settings,
  kind: kind.optional(),
  unset: z
    .array(z.enum(Object.keys(others) as (keyof typeof others)[]))
    .optional()
    .describe("Settings that go back to what they are when nothing is said."),
});
export const triggerBody = z.strictObject({ key: text(contractLimits.keyCharactersMax).optional() });
export const backfillBody = z.strictObject({
  from: instant,
  to: instant,
  dryRun: z.boolean().default(false),
  force: z.boolean().default(false),
  pace,
  key: requestKey,
});

const count = whole(contractLimits.previewTimesMax, 10, "How many times.");

export const nextQuery = z.strictObject({
  count,
  after: instant.optional().describe("Times after this one; default: now."),
});
export const explainQuery = z.strictObject({
  time: text(64, "`09:00` of today, `2026-11-21T09:00` by the schedule's clock, or an instant."),
});
export const previewQuery = z.strictObject({
  expression: text(contractLimits.cronCharactersMax, "Five fields, `cron(...)`, `rate(...)` or a duration."),
  timezone: nameText().default("UTC").describe("IANA name."),
  gap: z
    .enum(["auto", "skip", "shift", "first-valid"])
    .default("auto")
    .describe("What a local time that a clock change skips does."),
  overlap: z
    .enum(["auto", "first", "second", "both"])
    .default("auto")
    .describe("Which pass of a repeated local time fires."),
  count,
  after: instant.optional().describe("Times after this one; default: now."),
});
