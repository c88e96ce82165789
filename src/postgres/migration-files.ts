import { hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AppDefinition } from "../define/definition.ts";
import type { Problem } from "../define/problem.ts";
import { expands } from "./schema-version.ts";

export interface MigrationFile {
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
  readonly sql: string;
}

/** The folder of Belfry's own tables. Bundlers look for this very form. */
export const ownFolder = fileURLToPath(new URL("./migrations", import.meta.url));

/**
 * Files `0001_name.sql` of a folder, by number.
 * @throws Error on a file that is not named so, on a number used twice, and on a gap.
 */
export function migrationFiles(folder: string): readonly MigrationFile[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".sql"));
  const files = names.map((name) => read(folder, name)).toSorted((a, b) => a.number - b.number);
  for (const [index, file] of files.entries()) {
    const before = files[index - 1];
    if (before?.number === file.number) {
      throw new Error(
        `migrations "${before.name}" and "${file.name}" in ${folder} have the same number: renumber the newer one`,
      );
    }
    if (file.number !== index + 1) {
      throw new Error(`migration ${index + 1} is missing in ${folder}: the next file there is "${file.name}"`);
    }
  }
  return files;
}

/**
 * Names of files that a stage does not have yet and that a release behind them cannot do without: once one is applied, the
 * release before no longer starts on the database.
 */
export const lasting = (folder: string, version: number): readonly string[] =>
  migrationFiles(folder)
    .filter((file) => file.number > version && !expands(file))
    .map(({ name }) => name);

/** What is wrong with the folders that hold the apps' own tables, before anything of them runs. */
export const checkMigrations = (apps: readonly AppDefinition[]): readonly Problem[] =>
  apps.flatMap(({ name, migrations }) => {
    if (migrations === null) return [];
    const about = { thing: `app "${name}"`, field: "migrations" };
    const folder = fileURLToPath(migrations);
    try {
      migrationFiles(folder);
      return [];
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === undefined) return [{ ...about, value: "", rule: `cannot run: ${message}`, fix: "" }];
      const fix = "correct the URL, or make the folder with files like 0001_what_it_does.sql";
      return [{ ...about, value: folder, rule: `is no folder that can be read (${code})`, fix }];
    }
  });

function read(folder: string, name: string): MigrationFile {
  const number = /^(\d{4})_[a-z0-9_-]+\.sql$/.exec(name)?.[1];
  if (number === undefined) {
    throw new Error(`migration "${name}" in ${folder} must be named like 0001_what_it_does.sql: rename it`);
  }
  const sql = readFileSync(join(folder, name), "utf8");
  return { number: Number(number), name, checksum: hash("sha256", sql, "hex"), sql };
}
