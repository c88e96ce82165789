import { hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** One numbered SQL file. */
export interface MigrationFile {
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
  readonly sql: string;
}

/** The folder of Belfry's own tables. */
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

function read(folder: string, name: string): MigrationFile {
  const number = /^(\d{4})_[a-z0-9_-]+\.sql$/.exec(name)?.[1];
  if (number === undefined) {
    throw new Error(`migration "${name}" in ${folder} must be named like 0001_what_it_does.sql: rename it`);
  }
  const sql = readFileSync(join(folder, name), "utf8");
  return { number: Number(number), name, checksum: hash("sha256", sql, "hex"), sql };
}
