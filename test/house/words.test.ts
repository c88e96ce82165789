import { expect, test } from "vitest";
import { migrationFiles, readSource, sourceFiles } from "./imports.ts";

/** What must not be written in some files, and an example of it that the pattern has to find. */
interface Ban {
  readonly what: string;
  readonly files: RegExp;
  readonly pattern: RegExp;
  readonly planted: string;
}

const code = /^(src|functions|scheduler-task|infra|examples|jobs)\//;

/** Exported names that end like a participle, and are none: a noun or a verb. */
const nouns = new Set(["feed", "need", "seed", "speed"]);

const bans: readonly Ban[] = [
  {
    what: "time, chance, the environment and timers in the domain",
    // A search may last only so long.
    files: /^src\/(machine|calendar|admission|define|run|schedule|insight\/(?!find-jobs))/,
    pattern:
      /Date\.now\(|new Date\(\)|Math\.random\(|process\.env\b|set(Timeout|Interval|Immediate)\(|randomUUID|performance\.now/,
    planted: "const now = Date.now();",
  },
  {
    what: "the zone of the machine in code",
    files: code,
    pattern:
      /\.(get|set)(FullYear|Year|Month|Date|Day|Hours|Minutes|Seconds|Milliseconds|TimezoneOffset)\(|\.toLocale(Date|Time)?String\(|\.to(Date|Time)String\(/,
    planted: "if (at.getHours() === 8) send();",
  },
  {
    // The signature of a webhook carries the time at which it was sent.
    what: "a wall clock in a decision of an adapter",
    files: /^src\/(postgres|aws)\/(?!events\/webhook\.)/,
    pattern: /Date\.now\(|new Date\(\)/,
    planted: "const lease = Date.now() + 20_000;",
  },
  {
    // Only what injects faults: `letPass` is how long a fault lasts (each call says which), `until` its bounded look, and the
    // handlers in test/proof/app are the work that a fault interrupts.
    what: "sleeps in tests",
    files: /^test\/(?!proof\/(until\.ts|app\/))/,
    pattern:
      /await (sleep|delay)\(|setTimeout\(r(esolve|es)?,|import \{[^}]*setTimeout[^}]*\} from "node:timers\/promises"/,
    planted: "await new Promise((resolve) => setTimeout(resolve, 100));",
  },
  {
    what: "work put off, and types that say nothing",
    files: /^/,
    pattern:
      /\b(TODO|FIXME|XXX)\b|: any\b|as any\b|<any>|\b(test|it|describe|suite)(\.\w+)*\.(only|skip)\b|@ts-(ignore|nocheck)/,
    planted: "const payload: any = JSON.parse(body); // TODO",
  },
  {
    what: "cases of a state outside the one machine",
    files: code,
    pattern: /\benum\s+\w+\s*\{/,
    planted: "enum State { Pending }",
  },
];

/** This file has to name what it bans. */
const files = sourceFiles().filter((file) => file !== "test/house/words.test.ts");

function find({ files: where, pattern }: Ban): readonly string[] {
  return files
    .filter((file) => where.test(file))
    .flatMap((file) =>
      readSource(file)
        .split("\n")
        .flatMap((line, index) => (pattern.test(withoutComment(line)) ? [`${file}:${index + 1} ${line.trim()}`] : [])),
    );
}

/** A comment may name what code may not do, except for what is put off. */
const withoutComment = (line: string): string =>
  /\b(TODO|FIXME|XXX)\b/.test(line) ? line : line.replace(/^\s*(\/\/|\/?\*).*$/, "");

test.each(bans)("$what: nowhere", (ban) => {
  expect(find(ban)).toEqual([]);
});

test.each(bans)("$what: found where it is planted, in files that exist", ({ files: where, pattern, planted }) => {
  expect(pattern.test(planted)).toBe(true);
  expect(files.some((file) => where.test(file))).toBe(true);
});

test("files and folders are named for what is in them", () => {
  const empty = /(^|\/)(utils?|helpers?|common|types|managers?|misc)(\.|\/)/i;
  expect(files.filter((file) => empty.test(file))).toEqual([]);
  expect(empty.test("src/core/utils.ts")).toBe(true);
});

test("no exported name is a participle", () => {
  const exported = /export (?:async )?(?:const|function|class|interface|type) (\w+)/g;
  const participle =
    /^(?:[a-z]+ed|(?:use|kill|run|read)?(?:[Kk]nown|[Ll]eft|[Kk]ept|[Ss]hown|[Gg]iven|[Tt]aken|[Hh]idden|[Dd]rawn|[Ff]orgotten|[Cc]hosen)|[Aa]sked\w*|\w+Asked|[Ff]ound|[Ww]anted|[Tt]old|[Ss]aid)$/;
  const names = files
    .filter((file) => code.test(file))
    .flatMap((file) => [...readSource(file).matchAll(exported)].map(([, name = ""]) => name));
  expect(names.length).toBeGreaterThan(2_000);
  expect(names.filter((name) => participle.test(name) && !nouns.has(name))).toEqual([]);
});

test("no file is longer than 300 lines", () => {
  const lines = (file: string): number => readSource(file).split("\n").length - 1;
  const tables = migrationFiles();
  expect(tables.length).toBeGreaterThan(5);
  expect([...files, ...tables].filter((file) => lines(file) > 300)).toEqual([]);
});

test("npm start becomes the program: a shell between them would end on a signal and leave the system running", () => {
  const { scripts } = JSON.parse(readSource("package.json")) as { scripts: Record<string, string> };
  expect(scripts["start"]).toMatch(/^exec node /);
});
