import { readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

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
