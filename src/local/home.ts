import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { identityOf, isRunning, type ProcessIdentity } from "./process/operating-system.ts";

/** The record of the running system; the command line finds its API by this file. */
export interface SystemRecord extends ProcessIdentity {
  readonly stage: string;
  /** Address of the HTTP API; null while the system starts. */
  readonly api: string | null;
  /** What its processes have in their environment, for one of the command line that joins them. */
  readonly env: Readonly<Record<string, string>>;
}

/** A state folder that this process alone uses. */
export interface Home {
  readonly folder: string;
  announce(about: { api: string; env: SystemRecord["env"] }): void;
  /** Whether the folder still is the one that was claimed. */
  isThere(): boolean;
  release(): void;
}

/** Another system runs on the same state folder. */
export class AlreadyRunning extends Error {
  override readonly name = "AlreadyRunning";
  constructor(folder: string, other: SystemRecord) {
    super(
      `Belfry already runs here (${folder}): process ${other.pid}${other.api === null ? "" : `, ${other.api}`}. ` +
        `Use that one, stop it (Ctrl-C there, or kill ${other.pid}), or set BELFRY_HOME to another folder`,
    );
  }
}

const claimRounds = 5;

/**
 * Claims the folder for this process and makes it when missing, for this user alone: logs and mails hold payloads. The
 * folder of a killed system is taken over.
 * @throws AlreadyRunning that names the running process and its address.
 */
export function claimHome(folder: string, stage: string): Home {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // As root, Postgres runs as another user, whose data may lie in a folder that was open when it was made.
  if (process.getuid?.() !== 0) chmodSync(folder, 0o700);
  const file = join(folder, "system.json");
  const self = identityOf(process.pid);
  if (self === null) throw new Error("this process cannot be identified");
  const write = (path: string, about: Pick<SystemRecord, "api" | "env">): void =>
    writeFileSync(path, JSON.stringify({ ...self, stage, ...about } satisfies SystemRecord, null, 2), { mode: 0o600 });
  claim(folder, file, (path) => write(path, { api: null, env: {} }));
  return {
    folder,
    announce(about) {
      const aside = `${file}.${process.pid}`;
      write(aside, about);
      renameSync(aside, file);
    },
    // What cannot be read, as without a free descriptor, is not gone.
    isThere: () => existsSync(file) && (readSystem(file)?.pid ?? process.pid) === process.pid,
    release() {
      if (readSystem(file)?.pid === process.pid) rmSync(file, { force: true });
    },
  };
}

/** A link appears whole or not at all, and only where nothing was: of two starts at once, one gets it. */
function claim(folder: string, file: string, write: (path: string) => void): void {
  const mine = `${file}.${process.pid}`;
  write(mine);
  try {
    for (let round = 0; round < claimRounds; round++) {
      if (isLinked(mine, file)) return;
      const other = readSystem(file);
      if (other !== null && isRunning(other)) throw new AlreadyRunning(folder, other);
      removeStale(file);
    }
    throw new Error(`${file} could not be taken: start again`);
  } finally {
    rmSync(mine, { force: true });
  }
}

/** Between the check and the removal another start may write its own file, so the moved file is checked again. */
function removeStale(file: string): void {
  const aside = `${file}.${process.pid}.stale`;
  try {
    renameSync(file, aside);
  } catch {
    return;
  }
  const moved = readSystem(aside);
  if (moved !== null && isRunning(moved)) isLinked(aside, file);
  rmSync(aside, { force: true });
}

function isLinked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  }
}

export function readSystem(file: string): SystemRecord | null {
  if (!existsSync(file)) return null;
  try {
    return JSON.parse(readFileSync(file, "utf8")) as SystemRecord;
  } catch {
    return null;
  }
}

/** A folder of the running system was deleted or moved away. */
export class FolderGone extends Error {
  override readonly name = "FolderGone";
  constructor(folder: string) {
    super(
      `the data folder ${folder} is gone, so the system stops: put it back and start again, or start without it for a fresh one`,
    );
  }
}
