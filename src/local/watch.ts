import { existsSync, watch } from "node:fs";
import { join, sep } from "node:path";

/** Settles for this long before it reports: an editor writes a file in several steps. */
const settleMs = 100;

/**
 * Calls `changed` after a source file below one of the folders was saved, except below `not`.
 * @returns a function that stops it.
 */
export function watchSources(folders: readonly string[], not: string, changed: (file: string) => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const watchers = folders
    .filter((folder) => existsSync(folder))
    .map((folder) => {
      const watcher = watch(folder, { recursive: true }, (_, file) => {
        if (file === null || !/\.(ts|js|mjs|json|sql)$/.test(file)) return;
        if (join(folder, file).startsWith(not + sep)) return;
        clearTimeout(timer);
        timer = setTimeout(() => changed(file), settleMs);
      });
      // A folder that disappears is not worth ending for.
      watcher.on("error", () => {});
      return watcher;
    });
  return () => {
    clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
  };
}
