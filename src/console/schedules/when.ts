/** When a schedule fires, as a form has it: one of three forms, and the text of that form. */

/** As the API takes them. */
export type ScheduleSettings = Readonly<Record<string, unknown>>;

export const whenForms = ["cron", "every", "at"] as const;
export type WhenForm = (typeof whenForms)[number];

export interface ScheduleDraft {
  readonly kind: string;
  readonly form: WhenForm;
  readonly text: string;
  readonly timezone: string;
  readonly overlap: string;
  readonly misfire: string;
}

/** `every 5m` -> `every` and `5m`; anything that names no form is cron. */
export function splitExpression(expression: string): Pick<ScheduleDraft, "form" | "text"> {
  const found = /^(every|at) (.*)$/.exec(expression);
  return found === null
    ? { form: "cron", text: expression }
    : { form: found[1] === "at" ? "at" : "every", text: found[2] ?? "" };
}

/** All settings of a new schedule, or those that differ from `before`. */
export function changedSettings(draft: ScheduleDraft, before: ScheduleDraft | null): ScheduleSettings {
  const { kind, form, text, timezone, overlap, misfire } = draft;
  const isMoved =
    before === null ||
    form !== before.form ||
    text !== before.text ||
    (form === "cron" && timezone !== before.timezone);
  return {
    ...(kind === before?.kind ? {} : { kind }),
    ...(isMoved ? { [form]: text, ...(form === "cron" ? { timezone } : {}) } : {}),
    ...(overlap === before?.overlap ? {} : { overlap }),
    ...(misfire === before?.misfire ? {} : { misfire }),
  };
}
