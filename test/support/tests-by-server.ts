import { importsOf, readSource, sourceFiles } from "../house/imports.ts";

/** Their clients are opened once a process, with the addresses of the first file's fakes. */
const isOfExamples = /^(test\/)?examples\//;

/** Nothing else can ask: vitest injects into tests only. */
const mayAsk = /^(test|examples)\//;

/** `postgres-server.ts` provides it: a file that asks for it, or imports one that does, needs the shared server. */
const asksForServer = /\binject\("postgres/;

/** Module mocks are kept for the next file of a worker that shares its modules. */
const patchesModules = /\bvi\.mock\(/;

export interface TestFiles {
  readonly pure: string[];
  /** As pure, but each file in a process of its own: it patches modules. */
  readonly patching: string[];
  readonly postgres: string[];
  /** As postgres, but each file in a process of its own. */
  readonly examples: string[];
  /** `*.long.test.ts`: they start whole systems, take long and rarely fail. `npm run test:long` runs them. */
  readonly long: string[];
}

/** All test files by whether they need the shared Postgres server. Read from their imports, so that no list goes stale. */
export function testsByServer(): TestFiles {
  const texts = testTexts();
  const needing = importers(
    texts,
    [...texts].flatMap(([file, text]) => (asksForServer.test(text) ? [file] : [])),
  );
  const tests = [...texts.keys()].filter((file) => file.endsWith(".test.ts"));
  const long = tests.filter((file) => file.endsWith(".long.test.ts"));
  const short = tests.filter((file) => !long.includes(file));
  const alone = short.filter((file) => !needing.has(file));
  const served = short.filter((file) => needing.has(file));
  const isPatching = (file: string): boolean =>
    file.startsWith("test/aws/") || patchesModules.test(texts.get(file) ?? "");
  return {
    pure: alone.filter((file) => !isPatching(file)),
    patching: alone.filter(isPatching),
    postgres: served.filter((file) => !isOfExamples.test(file)),
    examples: served.filter((file) => isOfExamples.test(file)),
    long,
  };
}

const testTexts = (): ReadonlyMap<string, string> =>
  new Map(sourceFiles().flatMap((file) => (mayAsk.test(file) ? [[file, readSource(file)] as const] : [])));

/** These files, and what imports them, directly or not. */
function importers(texts: ReadonlyMap<string, string>, files: Iterable<string>): ReadonlySet<string> {
  const found = new Set(files);
  const targets = new Map([...texts].map(([file, text]) => [file, importsOf(file, text).map(({ target }) => target)]));
  // Repeated until no further file does.
  for (let before = -1; before < found.size;) {
    before = found.size;
    for (const [file, imported] of targets) if (imported.some((target) => found.has(target))) found.add(file);
  }
  return found;
}

/** Test files that are among these, or import one of them, directly or not. */
export function testsThatImport(files: ReadonlySet<string>): string[] {
  const texts = testTexts();
  return [...importers(texts, files)].filter((file) => file.endsWith(".test.ts") && texts.has(file)).toSorted();
}
