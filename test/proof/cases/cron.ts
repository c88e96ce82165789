import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { parseAt, parseRate } from "../../../src/calendar/aws-cron.ts";
import { parseCron } from "../../../src/calendar/cron.ts";
import { nextFire } from "../../../src/calendar/timetable.ts";
import { nominalTimes } from "../../support/nominal-times.ts";
import { tzVersion } from "../../../src/calendar/zone.ts";
import type { Checklist, Proof } from "../proof.ts";

/**
 * Every `.json` file of a folder, read by the shape of its rows: zones with their fires, next times, AWS's verdicts, and
 * expressions that must be refused. A row that we decide otherwise by a rule is a line, and so is a file of no known shape.
 */
export const cron: Proof = {
  name: "cron",
  about: "expressions and clock changes from the rows of a folder (--dir)",
  async run({ dir, log }, list) {
    if (dir === null)
      return {
        pass: false,
        detail: "--dir FOLDER is required: a folder of .json files with rows of cron expressions",
      };
    const otherwise: string[] = [];
    for (const name of (await readdir(dir)).filter((file) => file.endsWith(".json")).toSorted()) {
      await checkFile(list, otherwise, dir, name);
    }
    for (const line of otherwise) log(`decided otherwise: ${line}`);
    list.figure(otherwise.length === 0 ? "no row decided otherwise" : `decided otherwise: ${otherwise.join("; ")}`);
    return list.verdict();
  },
};

async function checkFile(list: Checklist, otherwise: string[], dir: string, name: string): Promise<void> {
  const content: unknown = JSON.parse(await readFile(join(dir, name), "utf8"));
  const shapes = [
    { schema: zonesFile, check: checkZones },
    { schema: nextFile, check: checkNext },
    { schema: awsFile, check: checkAws },
    { schema: refusedFile, check: checkRefused },
  ] as const;
  for (const { schema, check } of shapes) {
    const parsed = schema.safeParse(content);
    if (parsed.success) return check(list, otherwise, parsed.data as never, name);
  }
  otherwise.push(`${name}: none of its rows has a shape that is read here`);
}

const offsets = z.array(z.union([z.number(), z.tuple([z.number(), z.number(), z.number()])]));
const entry = z.object({
  type: z.enum(["gap", "overlap"]).optional(),
  utc: z.string(),
  tzdata: z.array(z.string()),
  fires: z.record(z.string(), z.record(z.string(), offsets)),
});
const zonesFile = z.object({
  zones: z.record(
    z.string(),
    z.object({
      transitions: z.array(entry),
      historic: z.array(entry).default([]),
      controls: z.array(entry).default([]),
    }),
  ),
});
const gapRules = ["skip", "shift", "first-valid"] as const;
const overlapRules = ["first", "second", "both"] as const;
const windowMs = 72 * 3_600_000;

/** Every list under its own rule and all rules of the other kind: the two are independent. */
function checkZones(list: Checklist, otherwise: string[], file: z.infer<typeof zonesFile>, name: string): void {
  const wrong: string[] = [];
  let rows = 0;
  for (const [zone, { transitions, historic, controls }] of Object.entries(file.zones)) {
    for (const each of [...transitions, ...historic, ...controls]) {
      if (!isOurs(each.tzdata)) {
        otherwise.push(`${zone} ${each.utc}: the row is for tz ${each.tzdata.join(", ")}, ours is ${tzVersion}`);
        continue;
      }
      for (const [expression, rules] of Object.entries(each.fires)) {
        for (const [rule, minutes] of Object.entries(rules)) {
          rows += 1;
          if (!agree(zone, each, expression, rule, minutes)) wrong.push(`${zone} ${each.utc} "${expression}" ${rule}`);
        }
      }
    }
  }
  list.expectNone(`every list of ${name} agrees`, wrong);
  list.expect(`${name} has lists`, rows > 0);
  list.figure(`${rows} lists of ${name}`);
}

const isOurs = (versions: readonly string[]): boolean =>
  versions.some((version) => version <= tzVersion) && versions.some((version) => version >= tzVersion);

function agree(
  zone: string,
  { type, utc }: z.infer<typeof entry>,
  expression: string,
  rule: string,
  minutes: z.infer<typeof offsets>,
): boolean {
  const change = Date.parse(utc);
  const expected = minutes
    .flatMap((each) =>
      typeof each === "number" ? [each] : Array.from({ length: each[2] }, (_, k) => each[0] + k * each[1]),
    )
    .map((each) => change + each * 60_000);
  const window = { afterExclusive: change - windowMs - 1, untilInclusive: change + windowMs - 1, max: 10_000 };
  return gapRules
    .filter((gap) => type !== "gap" || gap === rule)
    .flatMap((gap) =>
      overlapRules.filter((overlap) => type !== "overlap" || overlap === rule).map((overlap) => ({ gap, overlap })),
    )
    .every((dst) => {
      const times = nominalTimes({ form: "cron", cron: expression }, zone, dst, window);
      const fires = times.filter((time) => time.kind === "fires").map((time) => time.instant);
      return JSON.stringify(fires) === JSON.stringify(expected);
    });
}

const nextFile = z.object({
  rows: z.array(
    z.object({
      expression: z.string(),
      fields: z.union([z.number(), z.string()]).optional(),
      zone: z.string(),
      inclusive: z.boolean().default(false),
      from: z.string(),
      expected: z.string().nullable(),
    }),
  ),
});

/** The whole millisecond at or before an instant that may be written more finely. */
const millisecond = (text: string): number => Date.parse(text.replace(/(\.\d{3})\d+/, "$1"));

function checkNext(list: Checklist, otherwise: string[], { rows }: z.infer<typeof nextFile>, name: string): void {
  const wrong: string[] = [];
  for (const row of rows) {
    const parsed = parseCron(row.expression);
    if (!parsed.ok) {
      if (row.expected !== null) otherwise.push(`${name}: ${parsed.problem}`);
      continue;
    }
    const when = {
      expression: { form: "cron", cron: row.expression },
      timezone: row.zone,
      dst: { gap: "auto", overlap: "auto" },
      startAt: null,
      endAt: null,
    } as const;
    const next = nextFire(when, millisecond(row.from) - (row.inclusive ? 1 : 0))?.instant ?? null;
    if (next !== (row.expected === null ? null : millisecond(row.expected))) {
      wrong.push(`"${row.expression}" from ${row.from}: ${next === null ? "never" : new Date(next).toISOString()}`);
    }
  }
  list.expectNone(`every next time of ${name} agrees`, wrong);
  list.expect(`${name} has rows`, rows.length > 0);
  list.figure(`${rows.length} next times of ${name}`);
}

const awsFile = z.object({
  rows: z.array(
    z.object({ expression: z.string(), kind: z.enum(["cron", "rate", "at"]), valid: z.boolean(), api: z.string() }),
  ),
});

/** Belfry's rules that refuse what one of AWS's services accepts; a row that meets one is listed, not counted as wrong. */
const stricter: readonly (readonly [RegExp, string])[] = [
  [/can never fire/, "an expression that can never fire is refused"],
  [/: write rate\(/, "the unit of rate is singular for 1 and plural above"],
];

function checkAws(list: Checklist, otherwise: string[], { rows }: z.infer<typeof awsFile>, file: string): void {
  const refused: string[] = [];
  const accepted: string[] = [];
  const unnamed: string[] = [];
  for (const { expression, kind, valid, api } of rows) {
    const parsed = { cron: parseCron, rate: parseRate, at: parseAt }[kind](expression);
    const name = `"${expression}" (${api})`;
    if (parsed.ok && !valid) accepted.push(name);
    if (parsed.ok) continue;
    if (!namesField.test(parsed.problem)) unnamed.push(`${name}: ${parsed.problem}`);
    const rule = stricter.find(([pattern]) => pattern.test(parsed.problem));
    if (valid && rule !== undefined) otherwise.push(`${name}: rule "${rule[1]}"`);
    else if (valid) refused.push(`${name}: ${parsed.problem}`);
  }
  list.expectNone("what AWS accepted is accepted", refused);
  list.expectNone("what AWS refused is refused", accepted);
  list.expectNone("a refusal names the field", unnamed);
  list.expect(`${file} has rows`, rows.length > 0);
  list.figure(`${rows.length} AWS expressions`);
}

/** Expressions that another library refuses, or that have no next time there. */
const refusedFile = z.object({ rows: z.array(z.object({ expression: z.string() })) });

function checkRefused(list: Checklist, otherwise: string[], { rows }: z.infer<typeof refusedFile>, name: string): void {
  for (const { expression } of rows) {
    if (parseCron(expression).ok) otherwise.push(`${name}: "${expression}" is accepted here`);
  }
  list.expect(`${name} has rows`, rows.length > 0);
  list.figure(`${rows.length} expressions of ${name} that another library refuses`);
}

/** A field with its value, the count of fields, or the value and unit of `rate` and the form of `at`. */
const namesField =
  /(?:minute|hour|day of month|month|day of week|year) "|has \d+ fields?|^rate ".*(?:value|unit)|^at ".*(?:yyyy-mm-dd|date or time)/;
