import { importsOf } from "./imports.ts";

/** The rooms of `src`, each above those before it. A room imports only itself and what is below. The page is apart: a browser runs it. */
export const layers = [
  "machine",
  "calendar",
  "admission",
  "define",
  "run",
  "schedule",
  "insight",
  "postgres",
  "outside",
  "aws",
  "stage",
  "cells",
  "api",
  "compose",
  "scaffold",
  "cli",
  "local",
  "testing",
] as const;

/** What a file imports from a room above its own, and what it passes on of another room. */
export function layerViolations(file: string, text: string): readonly string[] {
  const own = roomOf(file);
  if (own === null) return [];
  const upward = importsOf(file, text).flatMap(({ target, isPackage }) => {
    const room = isPackage ? null : roomOf(target);
    return room === null || levelOf(room) <= levelOf(own) ? [] : [`${file} imports ${target}, which is not below it`];
  });
  const passedOn = isEntry(file)
    ? []
    : [...text.matchAll(/^export\s[^;]*?from\s*"\.\.\/([^"]+)"/gm)].map(
        (match) => `${file} exports ${match[1]}, which is another room's`,
      );
  return [...upward, ...passedOn];
}

/** What a user imports as `belfry/...` collects names of several rooms. */
const isEntry = (file: string): boolean =>
  file.startsWith("src/compose/") || file.endsWith("/index.ts") || file === "src/stage/stages.ts";

/** @returns null for what is in no room of `src`, and for the texts of a new project, which quote imports. */
const roomOf = (path: string): string | null => {
  const room = /^src\/([^/]+)\/.+\.tsx?$/.exec(path)?.[1] ?? null;
  return room === "console" || path === "src/scaffold/scaffold.ts" ? null : room;
};

/** A room that is not in the list is above all of them. */
function levelOf(room: string): number {
  const level = (layers as readonly string[]).indexOf(room);
  return level === -1 ? layers.length : level;
}
