import { statSync } from "node:fs";
import { basename, dirname, sep } from "node:path";
import type { RejectedSave, RunningCode } from "../api/saves.ts";
import type { ApiProcess } from "./api-process.ts";
import { type CodeVersion, dropCode } from "./code.ts";
import type { Lanes } from "./lambda/lanes.ts";
import type { Children } from "./process/children.ts";
import { type LoadedCode, runSetup, SetupFailed } from "./setup/run-setup.ts";
import { allReady } from "./process/ready-child.ts";
import type { RuleClock } from "./tasks/rule-clock.ts";
import type { Tasks } from "./tasks/tasks.ts";
import type { WakeClock } from "./tasks/wake-clock.ts";
import { type WatchFilter, watchSources } from "./watch.ts";

export interface Reloadable {
  readonly api: ApiProcess | null;
  readonly lanes: Lanes | null;
  readonly wakes: WakeClock | null;
  readonly rules: RuleClock | null;
  readonly tasks: Tasks;
}

export interface ReloadOptions extends Reloadable {
  readonly children: Children;
  readonly env: Readonly<Record<string, string>>;
  /** The project's folder, and the system's own state in it. */
  readonly root: string;
  readonly home: string;
  readonly loaded: LoadedCode;
  /** What runs at first, and when setup began to read it, in milliseconds since 1970. */
  readonly code: CodeVersion;
  readonly readAtMs: number;
  readonly onReloaded: (file: string) => void;
  /** @param what says what runs on. */
  readonly onRejected: (file: string, what: string, error: unknown) => void;
}

export interface Reloads {
  stop(): Promise<void>;
}

/**
 * After an edit of a file that was loaded: setup reads the code and installs its definitions, a process of each part is
 * started with what setup has read, and once all are ready they take over. What cannot be used is reported once, and what runs stays.
 */
export function reloadOnSave(options: ReloadOptions): Reloads {
  const { root, home, api } = options;
  let { loaded, readAtMs } = options;
  let current: Promise<void> = Promise.resolve();
  /** The last file of the saves that the next look will find; they are looked at together. */
  let next: string | null = null;
  const taken = (): string => {
    const file = next ?? root;
    next = null;
    return file;
  };
  const over = new AbortController();
  const stands = standing(options.code.hash, partsOf(options));
  const tell = (): void => api?.tell(stands.now());
  const exchange = exchanger(options, stands, over.signal, (found) => (loaded = found));
  const reload = async (file: string): Promise<void> => {
    try {
      readAtMs = Date.now();
      await exchange();
      options.onReloaded(file);
    } catch (error) {
      // What failed to load is watched too: it is where the next edit will be.
      if (error instanceof SetupFailed && error.loaded !== null) loaded = both(loaded, error.loaded);
      // A further save is already waiting: what failed may be half of it, and the next look says what is wrong.
      if (over.signal.aborted || next !== null) return;
      stands.refuse({ file: basename(file), problem: error instanceof Error ? error.message : String(error) });
      options.onRejected(file, `cannot be used, so ${standingText(stands.now())}`, error);
    } finally {
      if (!over.signal.aborted) begin();
    }
  };
  /** A file may have been saved after it was read and before its folder was watched. */
  const begin = (): void => {
    tell();
    watch.follow(foldersOf(loaded, root));
    // A time of the future, as of a copied file, is no save: it would be missed again and again.
    const isMissed = (savedMs = 0): boolean => savedMs > readAtMs && savedMs <= Date.now();
    const missed = loaded.files.find((file) => isMissed(statSync(file, { throwIfNoEntry: false })?.mtimeMs));
    if (missed !== undefined) changed(basename(missed));
  };
  const changed = (file: string): void => {
    const isAwaited = next !== null;
    next = file;
    if (!isAwaited) current = current.then(() => (over.signal.aborted ? undefined : reload(taken())));
  };
  const wanted: WatchFilter = {
    file: (path) => isLoaded(path, loaded, root),
    folder: (path) => path !== home && holdsLoaded(path, loaded, root),
  };
  const watch = watchSources(foldersOf(loaded, root), wanted, changed);
  begin();
  return {
    async stop() {
      over.abort();
      watch.stop();
      await current;
    },
  };
}

/**
 * Installs what the files hold now and exchanges the processes, all or none. @returns what does so.
 * @throws SetupFailed, or what a process of the new code failed with: the old ones run on then.
 */
function exchanger(
  options: ReloadOptions,
  stands: CodeInUse,
  over: AbortSignal,
  onLoaded: (loaded: LoadedCode) => void,
): () => Promise<void> {
  const { children, env, home, api, lanes, wakes, rules, tasks } = options;
  const isOver = new Promise<never>((_, reject) =>
    over.addEventListener("abort", () => reject(new Error("the system stops"))),
  );
  isOver.catch(() => {});
  let before = options.code;
  return async () => {
    const { code, queues, topology, loaded } = await runSetup({ children, env, flags: [], signal: over });
    over.throwIfAborted();
    onLoaded(loaded);
    stands.installed(code.hash);
    const starting = [wakes, api, tasks].flatMap((part) => (part === null ? [] : [part.prepare(code.file)]));
    const ready = allReady([...starting, ...(lanes?.prepare(code.file, queues) ?? [])]);
    ready.catch(() => {});
    const successors = await Promise.race([ready, isOver]);
    children.useCode(code.file);
    for (const one of successors) one.takeOver();
    lanes?.apply(queues, topology);
    rules?.apply(topology.scheduleWakes);
    stands.runs(code.hash, partsOf(options));
    // A process that was just started with the old code may still have to read it.
    dropCode(home, [before.file, code.file]);
    before = code;
  };
}

const partsOf = ({ api, lanes, wakes, rules }: Reloadable): readonly string[] => [
  ...(wakes === null && rules === null ? [] : ["scheduler"]),
  ...(api === null ? [] : ["API"]),
  ...(lanes?.names().map((lane) => `lane ${lane}`) ?? []),
];

const both = (a: LoadedCode, b: LoadedCode): LoadedCode => ({
  files: [...new Set([...a.files, ...b.files])],
  migrations: [...new Set([...a.migrations, ...b.migrations])],
});

const isBelow = (path: string, folder: string): boolean =>
  path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

/** Where data that code reads may lie: beside loaded code, but not in the project's folder itself. */
const dataFolders = ({ files, migrations }: LoadedCode, root: string): readonly string[] => [
  ...migrations,
  ...new Set(files.map((file) => dirname(file)).filter((folder) => folder !== root)),
];

function isLoaded(path: string, loaded: LoadedCode, root: string): boolean {
  if (loaded.files.includes(path)) return true;
  return /\.(json|sql)$/.test(path) && dataFolders(loaded, root).some((folder) => isBelow(path, folder));
}

const holdsLoaded = (path: string, loaded: LoadedCode, root: string): boolean =>
  [...loaded.files, ...loaded.migrations].some((each) => isBelow(each, path)) ||
  dataFolders(loaded, root).some((folder) => folder === path || isBelow(path, folder));

/** The project and where code lies outside of it, also the folder above: a folder can be replaced as a whole. */
function foldersOf({ files }: LoadedCode, root: string): readonly string[] {
  const outside = files.filter((file) => !isBelow(file, root)).map((file) => dirname(file));
  return [...new Set([root, ...outside.map((folder) => dirname(folder)), ...outside])];
}

/** Which code runs in which parts, since when, and what became of the newest save. */
interface CodeInUse {
  /** Setup has installed its schedules, limits and tables. */
  installed(version: string): void;
  /** Every part runs it: what was refused before no longer counts. */
  runs(version: string, parts: readonly string[]): void;
  refuse(save: Omit<RejectedSave, "at">): void;
  now(): RunningCode;
}

function standing(version: string, parts: readonly string[]): CodeInUse {
  const now = (): string => new Date().toISOString();
  const begin = { version, since: now() };
  let current: RunningCode = { ...begin, parts, definitions: begin, refused: null };
  const at = (before: { version: string; since: string }, next: string) =>
    before.version === next ? { version: next, since: before.since } : { version: next, since: now() };
  return {
    installed(next) {
      current = { ...current, definitions: at(current.definitions, next) };
    },
    runs(next, by) {
      current = { ...current, ...at(current, next), parts: by, refused: null };
    },
    refuse(save) {
      current = { ...current, refused: { ...save, at: now() } };
    },
    now: () => current,
  };
}

/** For example `the code of 04:01:22 UTC runs on in scheduler, API, lane default`. */
function standingText({ version, since, parts, definitions }: RunningCode): string {
  const runs = `the code of ${timeOf(since)} runs on in ${parts.join(", ")}`;
  if (definitions.version === version) return runs;
  return `${runs}, with the schedules, limits and tables that were saved at ${timeOf(definitions.since)}`;
}

const timeOf = (iso: string): string => `${iso.slice(11, 19)} UTC`;
