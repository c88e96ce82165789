import { chmodSync, statSync } from "node:fs";
import { join } from "node:path";
import { startProxy } from "../../src/cli/signed-proxy.ts";
import type { Check, Planted } from "./check.ts";
import { run as runProgram } from "./tools.ts";
import type { Target } from "./world.ts";

/** The user `nobody`, on every system that tests run on. */
const uid = 65_534;

/** What a program of another user of this machine prints. */
async function asOther(script: string): Promise<string> {
  const { output } = await runProgram("/bin/sh", ["-c", script], {
    uid,
    gid: uid,
    cwd: "/",
    env: { PATH: process.env["PATH"] },
  });
  return output.trim();
}

const writes = (url: string): string =>
  `curl -s -o /dev/null -w '%{http_code}' -X POST -H 'content-type: application/json' -d '{"kind":"hello"}' ${url}/jobs`;

async function run(target: Target): Promise<readonly string[]> {
  const found: string[] = [];
  const proxy = await startProxy(
    async ({ method, path, headers, body }) =>
      await fetch(`${target.url}${path}`, { method, headers, ...(body === "" ? {} : { body }) }),
    { isOpen: opensProxy.has(target) },
  );
  try {
    // The printed address was opened by the operator: it signs no second one in.
    await fetch(proxy.open, { redirect: "manual" });
    const again = await asOther(`curl -s -o /dev/null -w '%{http_code}' '${proxy.open}'`);
    if (again.startsWith("2") || again.startsWith("3"))
      found.push(`the printed address signs a second one in: ${again}`);
    const written = await asOther(writes(proxy.url));
    if (!["401", "403"].includes(written))
      found.push(`another user changes something through belfry console: ${written}`);
    const read = await asOther(`curl -s -o /dev/null -w '%{http_code}' ${proxy.url}/jobs`);
    if (!["401", "403"].includes(read)) found.push(`another user reads through belfry console: ${read}`);
    const stolen = `-H 'authorization: Bearer ${proxy.bearer}'`;
    const borrowed = await asOther(`curl -s -o /dev/null -w '%{http_code}' ${stolen} ${proxy.url}/jobs`);
    if (borrowed !== "403") found.push(`another user reads with the operator's session: ${borrowed}`);
  } finally {
    proxy.close();
  }
  for (const path of ["", "log", "mail", "system.json", "postgres/postgres.json"]) {
    const file = join(target.home, path);
    if (statSync(file, { throwIfNoEntry: false }) === undefined) continue;
    if (
      (await asOther(`cat '${file}' 2>&1 || ls '${file}'`)).match(/Permission denied|cannot (open|access)/) === null
    ) {
      found.push(`another user sees ${path === "" ? "the state folder" : path}`);
    }
  }
  return found;
}

const opensProxy = new WeakSet<Target>();

export const otherUserCheck: Check = {
  name: "another local user",
  missing: () => Promise.resolve(process.getuid?.() === 0 ? null : "only root can run a program as another user"),
  run,
  faults: {
    "a proxy without its gate": (target): Planted => {
      const open = { ...target };
      opensProxy.add(open);
      return { target: open };
    },
    "a state folder that others may enter": (target): Planted => {
      const { mode } = statSync(target.home);
      chmodSync(target.home, 0o755);
      return { target, close: () => chmodSync(target.home, mode & 0o777) };
    },
  },
};
