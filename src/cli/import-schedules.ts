/** Reads what another scheduler has, as schedules of this one. */
import { parseAt, parseRate } from "../calendar/aws-cron.ts";
import { cronMacros, parseCron } from "../calendar/cron.ts";
import { formatDuration } from "../calendar/duration.ts";
import { preview } from "../calendar/preview.ts";
import type { FirePattern } from "../calendar/timetable.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { zoneProblem } from "../calendar/zone.ts";
import type { Expression } from "../machine/schedule.ts";
import { smallestGapMs } from "../define/spread.ts";
import { iso, minuteMs } from "../machine/units.ts";

/** A job to write: nothing but its options is known. */
export interface ImportedJob {
  readonly id: string;
  readonly was: string;
  /** Options of `defineJob`, as TypeScript. */
  readonly options: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
}

export interface ImportedSchedule {
  readonly id: string;
  readonly job: string;
  /** What it was: a command, or the target of a schedule. */
  readonly was: string;
  readonly expression: Expression;
  /** Options of `defineSchedule`, as TypeScript. */
  readonly options: Readonly<Record<string, string>>;
  readonly timezone: string;
  readonly period: Pick<FirePattern, "startAt" | "endAt">;
  /** Undefined: it takes none. */
  readonly payload: unknown;
  readonly notes: readonly string[];
}

export interface Imported {
  readonly jobs: readonly ImportedJob[];
  readonly schedules: readonly ImportedSchedule[];
  /** What cannot be said, with the reason. */
  readonly refused: readonly { readonly what: string; readonly why: string }[];
}

const text = (value: unknown): string => JSON.stringify(value);
const nextMax = 5;
export const { idCharactersMax } = contractLimits;

export const nextOf = ({ expression, timezone, period, options }: ImportedSchedule, nowMs: number): readonly string[] =>
  (options["enabled"] === "false"
    ? []
    : preview({ expression, timezone, dst: { gap: "auto", overlap: "auto" }, ...period }, nowMs, nextMax)
  )
    .filter(({ fires }) => fires)
    .map(({ instant }) => iso(instant));

/** @param hasUsers a crontab of the system, whose lines name a user before the command. */
export function importCrontab(crontab: string, options: { timezone: string; hasUsers: boolean }): Imported {
  const problem = zoneProblem(options.timezone);
  if (problem !== null) throw new RangeError(`--timezone: ${problem}`);
  const all = collector();
  let { timezone } = options;
  for (const [index, raw] of crontab.split(/\r?\n/).entries()) {
    const line = raw.trim();
    const what = `line ${index + 1}: ${line}`;
    if (line === "" || line.startsWith("#")) continue;
    const [, name, value = ""] = /^(\w+)\s*=\s*["']?(.*?)["']?$/.exec(line) ?? [];
    if (name === "CRON_TZ" || name === "TZ") timezone = value;
    else if (name !== undefined) all.refuse(what, "is a variable: give it to the lane's environment");
    else {
      const [, cron = "", user, was = ""] =
        (options.hasUsers ? /^(@\w+|(?:\S+\s+){4}\S+)\s+(\S+)\s+(.+)$/ : /^(@\w+|(?:\S+\s+){4}\S+)()\s+(.+)$/).exec(
          line,
        ) ?? [];
      if (was === "") all.refuse(what, "must be five fields or a name like @daily, then a command");
      else if (cron === "@reboot") all.refuse(what, "is the start of a machine, which no schedule is");
      else {
        const notes = [
          ...(user === undefined || user === "" ? [] : [`ran as ${user}`]),
          ...(/(?<!\\)%/.test(was) ? ["% begins what the command reads"] : []),
        ];
        all.add(what, { name: was, was, expression: cron.replaceAll(/\s+/g, " "), timezone, notes });
      }
    }
  }
  return all.done();
}

/** An answer of `aws scheduler get-schedule` or `aws events list-rules`, or a list of them. @throws SyntaxError */
export function importEventBridge(json: string): Imported {
  const all = collector();
  const given = JSON.parse(json) as unknown;
  const { Schedules: schedules, Rules: rules } = (given ?? {}) as { Schedules?: unknown; Rules?: unknown };
  const list = [schedules ?? rules ?? given].flat() as readonly Readonly<Record<string, unknown>>[];
  for (const [index, each] of list.entries()) {
    const { Name, ScheduleExpression: expression, ScheduleExpressionTimezone: timezone = "UTC", State } = each ?? {};
    const { Arn, Input } = (each?.["Target"] ?? {}) as { Arn?: unknown; Input?: unknown };
    const { MaximumWindowInMinutes: window } = (each?.["FlexibleTimeWindow"] ?? {}) as {
      MaximumWindowInMinutes?: unknown;
    };
    const what = typeof Name === "string" ? Name : `entry ${index + 1}`;
    if (typeof expression !== "string" || typeof timezone !== "string") {
      all.refuse(what, "has no ScheduleExpression: export it by aws scheduler get-schedule, or it is a rule of events");
      continue;
    }
    const [startAt, endAt] = [each["StartDate"], each["EndDate"]].map(timeOf);
    if (Number.isNaN(startAt) || Number.isNaN(endAt)) {
      all.refuse(what, "has a StartDate or EndDate that is no time");
      continue;
    }
    const period = { startAt: startAt ?? null, endAt: endAt ?? null };
    const options = {
      ...Object.fromEntries(
        Object.entries(period).flatMap(([name, at]) => (at === null ? [] : [[name, text(iso(at))]])),
      ),
      ...(State === "DISABLED" ? { enabled: "false" } : {}),
    };
    const payload = typeof Input === "string" ? inputOf(Input) : undefined;
    const was = typeof Arn === "string" ? Arn : "its targets";
    all.add(what, { name: what, was, expression, timezone, notes: [], options, period, payload, window });
  }
  return all.done();
}

/** Null: there is none. */
function timeOf(value: unknown): number | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "number") return Math.abs(value) < 1e11 ? value * 1_000 : Number.NaN;
  return typeof value === "string" ? Date.parse(value) : Number.NaN;
}

function inputOf(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}

interface Found extends Pick<ImportedSchedule, "was" | "notes" | "timezone"> {
  readonly name: string;
  /** The id of a job that is known. Left out: it has one of its own. */
  readonly job?: string;
  readonly expression: string;
  readonly options?: ImportedSchedule["options"];
  readonly period?: ImportedSchedule["period"];
  readonly payload?: unknown;
  /** Minutes within which it may start. */
  readonly window?: unknown;
}

/** @param jobs those that schedules may name */
export function collector(jobs: ImportedJob[] = []) {
  const schedules: ImportedSchedule[] = [];
  const refused: Imported["refused"][number][] = [];
  const ids = new Set<string>();
  return {
    refuse: (what: string, why: string) => void refused.push({ what, why }),
    add(what: string, { name, expression: said, options = {}, payload, notes, window, ...rest }: Found): void {
      const zone = zoneProblem(rest.timezone);
      const read = zone === null ? expressionOf(said, rest.timezone) : zone;
      if (typeof read === "string") return void refused.push({ what, why: read });
      const id = idOf(name, ids);
      const spread = spreadOf(window, read.expression);
      schedules.push({
        period: { startAt: null, endAt: null },
        job: id,
        ...rest,
        id,
        expression: read.expression,
        options: { ...read.options, ...spread.options, ...options },
        payload,
        notes: [...notes, ...read.notes, ...spread.notes],
      });
      if (rest.job !== undefined) return;
      const taken: ImportedJob["options"] = payload === undefined ? {} : { payload: "z.unknown()" };
      jobs.push({ id, was: rest.was, options: taken, notes: [] });
    },
    done: (): Imported => ({ jobs, schedules, refused }),
  };
}

/** A window is a spread where it is shorter than the gap between two times. */
function spreadOf(window: unknown, expression: Expression): Pick<ImportedSchedule, "options" | "notes"> {
  if (window === undefined || window === null) return { options: {}, notes: [] };
  const ms = Number(window) * minuteMs;
  const fits = ms > 0 && ms <= Math.min(contractLimits.spreadMsMax, smallestGapMs(expression) ?? 0);
  return fits
    ? { options: { spread: text(formatDuration(ms)) }, notes: [] }
    : { options: {}, notes: [`its window of ${text(window)} minutes is left out: it is no spread of such times`] };
}

type Read = Pick<ImportedSchedule, "expression" | "options" | "notes">;

/** What `defineSchedule` takes, or why there is no such thing. */
function expressionOf(said: string, timezone: string): Read | string {
  if (said.startsWith("rate(")) {
    const rate = parseRate(said);
    if (!rate.ok) return rate.problem;
    const notes = ["counts from its first start here"];
    return { expression: rate.expression, options: { every: text(formatDuration(rate.expression.everyMs)) }, notes };
  }
  if (said.startsWith("at(")) {
    if (timezone !== "UTC") return `${said} in ${timezone}: write its instant as \`at\``;
    const at = parseAt(said);
    if (!at.ok) return at.problem;
    return { expression: at.expression, options: { at: text(iso(at.expression.at)) }, notes: [] };
  }
  const fields = cronMacros[said] ?? said;
  const cron = parseCron(fields);
  if (!cron.ok) return cron.problem;
  const options = { cron: said.startsWith("cron(") ? `aws(${text(said)})` : text(fields), timezone: text(timezone) };
  return { expression: { form: "cron", cron: fields }, options, notes: cron.notes };
}

/** The letters and digits of a name, as an id. */
export function slugOf(name: string, charactersMax: number): string {
  const slug = name
    .toLowerCase()
    .replaceAll(/[^a-z\d]+/g, "-")
    .replaceAll(/^[-\d]+/g, "");
  return slug.slice(0, charactersMax).replace(/-+$/, "") || "job";
}

/** Of a command its program; no two are alike. */
function idOf(name: string, taken: Set<string>): string {
  const word = name.split(/\s/)[0]?.split("/").at(-1) ?? "";
  const base = slugOf(word.replace(/\.\w{1,4}$/, ""), 40);
  let id = base;
  for (let n = 2; taken.has(id); n += 1) id = `${base}-${n}`;
  taken.add(id);
  return id;
}

// `a-2` and `a2` are two.
const nameOf = (id: string, what: string): string =>
  `${id.replaceAll(/[-._](\w)/g, (_, letter: string) => (/\d/.test(letter) ? `_${letter}` : letter.toUpperCase()))}${what}`;

/** With the names of their constants: the second of one name has a number. */
function withNames(jobs: readonly ImportedJob[]): readonly (ImportedJob & { readonly name: string })[] {
  const counts = new Map<string, number>();
  return jobs.map((job) => {
    const name = nameOf(job.id, "Job");
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return { ...job, name: count === 1 ? name : `${name}${count}` };
  });
}

const membersOf = (members: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(members).map(([member, value]) => `${member}: ${value}`);

/** A module of jobs that say what they must do, and the schedules that start them. */
export function moduleOf({ jobs, schedules }: Imported): string {
  const isAws = schedules.some(({ options }) => options["cron"]?.startsWith("aws("));
  const hasPayload = jobs.some(({ options }) => options["payload"] !== undefined);
  const named = [
    "defineApp",
    ...(jobs.length > 0 ? ["defineJob"] : []),
    ...(schedules.length > 0 ? ["defineSchedule"] : []),
  ];
  const jobsNamed = withNames(jobs);
  const definitions = jobsNamed.map(({ id, name, was, options, notes }) =>
    [
      ...notes.map((note) => `// ${note}`),
      `const ${name} = defineJob({`,
      ...membersOf({ id: text(id), ...options }).map((member) => `  ${member},`),
      `  run() {`,
      `    throw new Error(${text(`not moved yet: ${was}`)});`,
      `  },`,
      `});`,
      ...schedules.filter(({ job }) => job === id).flatMap((each) => definitionOf(each, name)),
      "",
    ].join("\n"),
  );
  const lists = [
    `jobs: [${jobsNamed.map(({ name }) => name).join(", ")}]`,
    `schedules: [${schedules.map(({ id }) => nameOf(id, "Schedule")).join(", ")}]`,
  ];
  return [
    `import { ${[...(isAws ? ["aws"] : []), ...named].join(", ")} } from "belfry";`,
    ...(hasPayload ? [`import { z } from "zod";`] : []),
    "",
    ...definitions,
    `export default defineApp({ name: "imported", ${lists.join(", ")} });`,
    "",
  ].join("\n");
}

function definitionOf({ id, notes, options, payload }: ImportedSchedule, run: string): readonly string[] {
  const given: Readonly<Record<string, string>> = payload === undefined ? {} : { payload: text(payload) };
  const members = membersOf({ id: text(id), ...options, run, ...given });
  return [
    ...notes.map((note) => `// ${note.replaceAll(/\s+/g, " ")}`),
    `const ${nameOf(id, "Schedule")} = defineSchedule({ ${members.join(", ")} });`,
  ];
}
