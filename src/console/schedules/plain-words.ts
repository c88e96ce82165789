import { signal } from "@preact/signals";

type Cronstrue = Pick<typeof import("cronstrue"), "toString">;

const library = signal<Cronstrue | null>(null);
let isAsked = false;

/** The expression as a person would say it. Cron is said once the words are loaded; until then it is shown as it is. */
export function plainWords(expression: string): string {
  const every = /^every (\d+)(ms|s|m|h|d)$/.exec(expression);
  if (every !== null) return everyWords(Number(every[1]), every[2] ?? "");
  if (expression.startsWith("at ")) return "Once";
  void load();
  if (library.value === null) return expression;
  const known = said.get(expression);
  if (known !== undefined) return known;
  const words = cronWords(library.value, expression);
  if (said.size < saidMax) said.set(expression, words);
  return words;
}

/** Ten thousand schedules say the same again with each refresh. */
const said = new Map<string, string>();
const saidMax = 10_000;

const unitWords: Readonly<Record<string, string>> = {
  ms: "millisecond",
  s: "second",
  m: "minute",
  h: "hour",
  d: "day",
};

const everyWords = (value: number, unit: string): string =>
  value === 1 ? `Every ${unitWords[unit]}` : `Every ${value} ${unitWords[unit]}s`;

function cronWords(cronstrue: Cronstrue, expression: string): string {
  const aws = /^cron\((.*)\)$/.exec(expression);
  const options = { use24HourTimeFormat: true, throwExceptionOnParseError: true, verbose: false };
  try {
    if (aws === null) return everyDay(expression, cronstrue.toString(expression, options));
    // AWS puts the year last and counts the days of the week from 1.
    const fields = (aws[1] ?? "").trim().split(/\s+/).slice(0, 5).join(" ").replaceAll("?", "*");
    return everyDay(fields, cronstrue.toString(fields, { ...options, dayOfWeekStartIndexZero: false }));
  } catch {
    return expression;
  }
}

/** The library leaves out the day where it is any day. */
const everyDay = (fields: string, words: string): string =>
  fields.endsWith(" * * *") && words.startsWith("At ") ? `Every day at ${words.slice(3)}` : words;

async function load(): Promise<void> {
  if (isAsked) return;
  isAsked = true;
  try {
    library.value = (await import("cronstrue")).default;
  } catch {
    // Shown as it is written then; asked for again with the next expression.
    isAsked = false;
  }
}
