import { z } from "zod";
import { formatDuration, parseDuration } from "../core/calendar/duration.ts";
import { contractLimits } from "../core/job/contract-limits.ts";

const text = (max: number) => z.string().min(1).max(max);
const instant = z.iso
  .datetime({ offset: true, error: "must be a time with its offset: 2026-11-21T08:00:00Z" })
  .transform((value) => Date.parse(value));
const pace = z
  .string()
  .transform(parseDuration)
  .refine((ms) => ms !== null && ms >= 1, 'must be a number and a unit: "500ms", "30s", "10m"')
  .refine(
    (ms) => (ms ?? 0) <= contractLimits.misfireAgeMsMax,
    `must be at most ${formatDuration(contractLimits.misfireAgeMsMax)}`,
  )
  .optional();

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

/** The options of `defineSchedule`; what the values mean is checked by the core, all problems together. */
const settings = {
  kind: text(contractLimits.idCharactersMax),
  payload: z.unknown().optional(),
  cron: text(contractLimits.cronCharactersMax).optional(),
  timezone: text(contractLimits.idCharactersMax).optional(),
  every: text(contractLimits.cronCharactersMax).optional(),
  at: text(contractLimits.idCharactersMax).optional(),
  dst: z.strictObject({ gap: z.string().optional(), overlap: z.string().optional() }).optional(),
  misfire: misfire.optional(),
  overlap: z.string().optional(),
  startDeadline: z.string().optional(),
  startAt: z.string().optional(),
  endAt: z.string().optional(),
  enabled: z.boolean().optional(),
};

export const newScheduleBody = z.strictObject({ id: text(200), ...settings });
export const changedScheduleBody = z.strictObject(settings);
export const triggerBody = z.strictObject({ key: text(contractLimits.keyCharactersMax).optional() });
export const backfillBody = z.strictObject({
  from: instant,
  to: instant,
  dryRun: z.boolean().default(false),
  force: z.boolean().default(false),
  pace,
});

const count = z
  .string()
  .regex(/^[1-9]\d{0,2}$/, `must be a whole number from 1 to ${contractLimits.previewTimesMax}`)
  .transform(Number)
  .refine((value) => value <= contractLimits.previewTimesMax, `must be at most ${contractLimits.previewTimesMax}`)
  .default(10);

export const nextQuery = z.strictObject({ count, after: instant.optional() });
export const explainQuery = z.strictObject({ time: text(64) });
export const previewQuery = z.strictObject({
  expression: text(contractLimits.cronCharactersMax),
  timezone: text(contractLimits.idCharactersMax).default("UTC"),
  gap: z.enum(["auto", "skip", "shift", "first-valid"]).default("auto"),
  overlap: z.enum(["auto", "first", "second", "both"]).default("auto"),
  count,
  after: instant.optional(),
});
