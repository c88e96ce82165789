import { importsOf } from "./imports.ts";

/** The folders of the core, each above those before it. A folder imports only itself and what is below. */
export const layers = ["job", "ports", "calendar", "define", "lock", "delivery", "work", "scheduler", "admin"] as const;

/** What a file of the core imports from above, and what it passes on of another folder. */
export function layerViolations(file: string, text: string): readonly string[] {
  const own = folderOf(file);
  if (own === null) return [];
  const upward = importsOf(file, text).flatMap(({ target, isPackage }) => {
    const folder = isPackage ? null : folderOf(target);
    if (isPackage || (folder !== null && levelOf(folder) <= levelOf(own))) return [];
    return [`${file} imports ${target}, which is not below it`];
  });
  const passedOn = [...text.matchAll(/^export\s[^;]*?from\s*"\.\.\/([^"]+)"/gm)].map(
    (match) => `${file} exports ${match[1]}, which is another folder's`,
  );
  return [...upward, ...passedOn];
}

/** @returns null for what is in no folder of the core. */
const folderOf = (path: string): string | null => /^src\/core\/([^/]+)\/[^/]+\.ts$/.exec(path)?.[1] ?? null;

/** A folder that is not in the list is above all of them. */
function levelOf(folder: string): number {
  const level = (layers as readonly string[]).indexOf(folder);
  return level === -1 ? layers.length : level;
}
