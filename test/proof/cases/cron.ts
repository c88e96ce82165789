import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { parseAt, parseRate } from "../../../src/core/calendar/aws-cron.ts";
import { parseCron } from "../../../src/core/calendar/cron.ts";
import { nextFire, nominalTimes } from "../../../src/core/calendar/timetable.ts";
import { tzVersion } from "../../../src/core/calendar/zone.ts";
import { Checklist, type Proof } from "../proof.ts";

/** Rows from a folder of the form that its README describes: `zones.json`, `cronos-next.json`, `aws-cron.json`. */
export const cron: Proof = {
  name: "cron",
  about: "expressions and clock changes from the rows of a folder (--dir)",
  async run({ dir, log }) {
    if (dir === null)
      return {
        pass: false,
        detail: "--dir FOLDER is required: the folder with zones.json, cronos-next.json and aws-cron.json",
      };
    const list = new Checklist();
    const otherwise: string[] = [];
    checkZones(list, otherwise, zonesFile.parse(await read(dir, "zones.json")));
    checkNext(list, otherwise, nextFile.parse(await read(dir, "cronos-next.json")));
    checkAws(list, otherwise, awsFile.parse(await read(dir, "aws-cron.json")));
    for (const line of otherwise) log(`decided otherwise: ${line}`);
    list.figure(otherwise.length === 0 ? "no row decided otherwise" : `decided otherwise: ${otherwise.join("; ")}`);
    return list.verdict();
  },
};

const read = async (dir: string, name: string): Promise<unknown> => JSON.parse(await readFile(join(dir, name), "utf8"));

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
function checkZones(list: Checklist, otherwise: string[], file: z.infer<typeof zonesFile>): void {
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
  list.expectNone("every list of zones.json agrees", wrong);
  list.expect("zones.json has lists", rows > 0);
  list.figure(`${rows} lists of zones.json`);
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
      fields: z.number(),
      zone: z.string(),
      inclusive: z.boolean(),
      from: z.string(),
      expected: z.string(),
    }),
  ),
});

function checkNext(list: Checklist, otherwise: string[], { rows }: z.infer<typeof nextFile>): void {
  const wrong: string[] = [];
  for (const row of rows) {
    if (row.fields !== 5) {
      otherwise.push(`"${row.expression}": rule "seconds are not supported"`);
      continue;
    }
    const when = {
      expression: { form: "cron", cron: row.expression },
      timezone: row.zone,
      dst: { gap: "auto", overlap: "auto" },
      startAt: null,
      endAt: null,
    } as const;
    const next = nextFire(when, Date.parse(row.from) - (row.inclusive ? 1 : 0));
    if (next?.instant !== Date.parse(row.expected)) wrong.push(`"${row.expression}" from ${row.from}`);
  }
  list.expectNone("every next time of cronos-next.json agrees", wrong);
  list.expect("cronos-next.json has rows", rows.length > 0);
  list.figure(`${rows.length} next times`);
}

const awsFile = z.object({
  rows: z.array(
    z.object({ expression: z.string(), kind: z.enum(["cron", "rate", "at"]), valid: z.boolean(), api: z.string() }),
  ),
});

/** Rules of ours that refuse what one of AWS's services accepts; a row that meets one is listed, not counted as wrong. */
const stricter: readonly (readonly [RegExp, string])[] = [
  [/can never fire/, "an expression that can never fire is refused"],
  [/: write rate\(/, "the unit of rate is singular for 1 and plural above"],
];

function checkAws(list: Checklist, otherwise: string[], { rows }: z.infer<typeof awsFile>): void {
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
  list.expect("aws-cron.json has rows", rows.length > 0);
  list.figure(`${rows.length} AWS expressions`);
}

/** A field with its value, the count of fields, or the value and unit of `rate` and the form of `at`. */
const namesField =
  /(?:minute|hour|day of month|month|day of week|year) "|has \d+ fields?|^rate ".*(?:value|unit)|^at ".*(?:yyyy-mm-dd|date or time)/;
