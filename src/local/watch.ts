import { type FSWatcher, readdirSync, watch } from "node:fs";
import { join } from "node:path";

const watchedFoldersMax = 1_000;

/** Settles for this long before it reports: an editor writes a file in several steps. */
const settleMs = 100;

const isSource = /\.(ts|js|mjs|json|sql)$/;

/**
 * Calls `changed` after a source file below one of the folders was saved, except below `not`, folders of packages and hidden ones.
 * Each folder is watched by itself: a recursive watch follows files, and loses one that an editor replaces by renaming.
 * @returns a function that stops it.
 */
export function watchSources(folders: readonly string[], not: string, changed: (file: string) => void): () => void {
  const watchers = new Map<string, FSWatcher>();
  let timer: NodeJS.Timeout | undefined;

  const seen = (folder: string, event: string, file: string): void => {
    const path = join(folder, file);
    // A folder that was made or moved here: it comes with its files, and at an old path it is another folder.
    const isNewFolder = event === "rename" && follow(path);
    if (!isNewFolder && !isSource.test(file)) return;
    clearTimeout(timer);
    timer = setTimeout(() => changed(file), settleMs);
  };

  const follow = (folder: string): boolean => {
    watchers.get(folder)?.close();
    watchers.delete(folder);
    if (folder === not || watchers.size >= watchedFoldersMax) return false;
    const children = foldersIn(folder);
    if (children === null) return false;
    const watcher = watch(folder, (event, file) => {
      if (file !== null) seen(folder, event, file);
    });
    // A folder that disappears is not worth ending for.
    watcher.on("error", () => watcher.close());
    watchers.set(folder, watcher);
    for (const child of children) follow(join(folder, child));
    return true;
  };

  for (const folder of folders) follow(folder);
  return () => {
    clearTimeout(timer);
    for (const watcher of watchers.values()) watcher.close();
  };
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
