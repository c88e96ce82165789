import { dirname, relative, sep } from "node:path";
import type { ApiProcess } from "./api-process.ts";
import type { Lanes } from "./lambda/lanes.ts";
import type { Children } from "./process/children.ts";
import { runSetup, SetupFailed } from "./setup/run-setup.ts";
import type { LoadedCode } from "./setup/setup-report.ts";
import type { RuleClock } from "./tasks/rule-clock.ts";
import type { Tasks } from "./tasks/tasks.ts";
import type { WakeClock } from "./tasks/wake-clock.ts";
import { type Wanted, watchSources } from "./watch.ts";

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
  readonly onReloaded: (file: string) => void;
  readonly onRejected: (file: string, error: unknown) => void;
}

export interface Reloads {
  /** Whether a save is being looked at, or was refused: a process that starts now may meet code that cannot be loaded. */
  areBroken(): boolean;
  /** Why the last save was refused; empty when it was not. */
  refusal(): string;
  stop(): Promise<void>;
}

/**
 * After an edit of a file that was loaded: the definitions are installed again, and every process that runs them is
 * replaced. Code that cannot be used is reported once, and what runs stays.
 */
export function reloadOnSave(options: ReloadOptions): Reloads {
  const { children, env, root, home, api, lanes, wakes, rules, tasks } = options;
  let { loaded } = options;
  let current: Promise<void> = Promise.resolve();
  /** The last file of the saves that the next look will find; they are looked at together. */
  let next: string | null = null;
  const taken = (): string => {
    const file = next ?? root;
    next = null;
    return file;
  };
  let isOver = false;
  let isBroken = false;
  let refusal = "";
  const reload = async (file: string): Promise<void> => {
    isBroken = true;
    try {
      const setup = await runSetup({ children, env, flags: [] });
      loaded = setup.loaded;
      lanes?.apply(setup.queues, setup.topology);
      lanes?.refresh();
      tasks.refresh();
      wakes?.again();
      rules?.apply(setup.topology.scheduleWakes);
      await api?.refresh();
      isBroken = false;
      refusal = "";
      options.onReloaded(file);
    } catch (error) {
      // What failed to load is watched too: it is where the next edit will be.
      if (error instanceof SetupFailed && error.loaded !== null) loaded = both(loaded, error.loaded);
      // Ctrl-C ends what just starts with the new code.
      if (isOver) return;
      // A further save is already waiting: what failed may be half of it, and the next look says what is wrong.
      if (next !== null) return;
      refusal = error instanceof Error ? error.message : String(error);
      options.onRejected(file, error);
      api?.reject({ file: relative(root, file), problem: refusal });
    }
    if (!isOver) watch.follow(foldersOf(loaded, root));
  };
  const wanted: Wanted = {
    file: (path) => isLoaded(path, loaded, root),
    folder: (path) => path !== home && holdsLoaded(path, loaded, root),
  };
  const watch = watchSources(foldersOf(loaded, root), wanted, (file) => {
    const isAwaited = next !== null;
    next = file;
    if (!isAwaited) current = current.then(() => (isOver ? undefined : reload(taken())));
  });
  return {
    areBroken: () => isBroken,
    refusal: () => refusal,
    async stop() {
      isOver = true;
      watch.stop();
      await current;
    },
  };
}

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
