import { signal } from "@preact/signals";
import { language } from "../language/choice.ts";
import { words } from "../language/words.ts";

type Cronstrue = Pick<typeof import("cronstrue"), "toString">;

const library = signal<Cronstrue | null>(null);
let isAsked = false;

const afterForm = /^after (\S+) within (\S+)$/;
/** It has no times of its own. */
export const follows = (expression: string): boolean => afterForm.test(expression);

/** The expression as a person would say it. Cron is said once the words are loaded; until then it is shown as it is. */
export function plainWords(expression: string): string {
  const every = /^every (\d+)(ms|s|m|h|d)$/.exec(expression);
  if (every !== null) return words.schedules.every(Number(every[1]), every[2] ?? "");
  if (expression.startsWith("at ")) return words.schedules.form.forms.at;
  const [, leader = "", within = ""] = afterForm.exec(expression) ?? [];
  if (leader !== "") return words.schedules.after(leader, within);
  void load();
  if (library.value === null) return expression;
  const known = said.get(expression);
  if (known !== undefined) return known;
  const text = cronWords(library.value, expression);
  if (said.size < saidMax) said.set(expression, text);
  return text;
}

/** Ten thousand schedules say the same again with each refresh. */
const said = new Map<string, string>();
const saidMax = 10_000;

function cronWords(cronstrue: Cronstrue, expression: string): string {
  const aws = /^cron\((.*)\)$/.exec(expression);
  const options = { use24HourTimeFormat: true, throwExceptionOnParseError: true, verbose: false, locale: language };
  try {
    if (aws === null) return everyDay(expression, cronstrue.toString(expression, options));
    // AWS puts the year last and counts the days of the week from 1.
    const fields = (aws[1] ?? "").trim().split(/\s+/).slice(0, 5).join(" ").replaceAll("?", "*");
    return everyDay(fields, cronstrue.toString(fields, { ...options, dayOfWeekStartIndexZero: false }));
  } catch {
    return expression;
  }
}

const everyDay = (fields: string, text: string): string =>
  fields.endsWith(" * * *") ? words.schedules.everyDay(text) : text;

async function load(): Promise<void> {
  if (isAsked) return;
  isAsked = true;
  try {
    const { default: found } = await import("cronstrue");
    if (language === "ko") await import("cronstrue/locales/ko");
    library.value = found;
  } catch {
    // Shown as it is written then; asked for again with the next expression.
    isAsked = false;
  }
}
