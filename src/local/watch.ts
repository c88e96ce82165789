import { type FSWatcher, readdirSync, watch } from "node:fs";
import { join } from "node:path";

const watchedFoldersMax = 1_000;

/** Settles for this long before it reports: an editor writes a file in several steps. */
const settleMs = 100;

const isSource = /\.([cm]?[jt]sx?|json|sql)$/;

/** Which of them count. */
export interface WatchFilter {
  readonly file: (path: string) => boolean;
  readonly folder: (path: string) => boolean;
}

export interface Watch {
  /** Looks in these folders too; a folder that is watched stays so. */
  follow(folders: readonly string[]): void;
  stop(): void;
}

/**
 * Calls `changed` after a wanted source file below one of the folders was saved, except in folders of packages and hidden ones.
 * Each folder has a watch of its own: a recursive watch follows files, and loses one that an editor replaces by renaming.
 */
export function watchSources(folders: readonly string[], wanted: WatchFilter, changed: (file: string) => void): Watch {
  const watchers = new Map<string, FSWatcher>();
  let timer: NodeJS.Timeout | undefined;

  const seen = (folder: string, event: string, file: string): void => {
    const path = join(folder, file);
    // A folder that was made or moved here: it comes with its files, and at an old path it is another folder.
    const isNewFolder = event === "rename" && follow(path, { replaces: true });
    if (!isNewFolder && !(isSource.test(file) && wanted.file(path))) return;
    clearTimeout(timer);
    timer = setTimeout(() => changed(file), settleMs);
  };

  const follow = (folder: string, { replaces }: { readonly replaces: boolean }): boolean => {
    if (replaces || !wanted.folder(folder)) forget(folder);
    const isWatched = watchers.has(folder);
    if (!wanted.folder(folder) || (!isWatched && watchers.size >= watchedFoldersMax)) return false;
    const children = foldersIn(folder);
    if (children === null) return false;
    // A watch that is made again loses the save that came just before: the one that repairs what was refused.
    if (!isWatched) watchers.set(folder, watched(folder));
    for (const child of children) follow(join(folder, child), { replaces });
    return true;
  };

  const watched = (folder: string): FSWatcher => {
    const watcher = watch(folder, (event, file) => {
      if (file !== null) seen(folder, event, file);
    });
    // A folder that disappears is not worth ending for.
    watcher.on("error", () => forget(folder));
    return watcher;
  };

  const forget = (folder: string): void => {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  };

  const stop = (): void => {
    clearTimeout(timer);
    for (const watcher of watchers.values()) watcher.close();
    watchers.clear();
  };
  const followAll = (all: readonly string[]): void => {
    for (const folder of all) follow(folder, { replaces: false });
  };
  followAll(folders);
  return { stop, follow: followAll };
}

/** Null when it is no folder, or is gone. */
function foldersIn(folder: string): readonly string[] | null {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name !== "node_modules" && !entry.name.startsWith("."))
      .map(({ name }) => name);
  } catch {
    return null;
  }
}
