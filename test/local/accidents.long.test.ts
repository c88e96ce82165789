import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import type { JobView } from "../../src/machine/job.ts";
import type { State } from "../../src/machine/state.ts";
import type { TestStore } from "../support/looks.ts";
import { freshFolder } from "./folder.ts";
import { freePort } from "../../src/local/process/free-port.ts";
import { beginProcess, finished, newApp, slowMs, startProcess, storeOf } from "./greeting-system.ts";
import { until } from "./until.ts";

describe("the local system after an accident", () => {
  it(
    "starts beside its own hung API, on the port that this one still holds",
    async () => {
      const { home, app } = newApp("hello");
      const port = String(await freePort());
      const first = await startProcess(home, app, "--port", port);
      const api = await until("the API's record", () => recorded(home, "api"), slowMs);
      process.kill(api, "SIGSTOP");
      first.process.kill("SIGKILL");
      await once(first.process, "exit");
      const second = await startProcess(home, app, "--port", port);
      expect(second.api).toBe(`http://127.0.0.1:${port}`);
      expect(second.lines.find((line) => line["is"] === "leftovers")?.["names"]).toContain("api");
    },
    4 * slowMs,
  );

  it(
    "starts although Postgres dies during the setup",
    async () => {
      const { home, app } = newApp("hello");
      const begun = beginProcess(home, app);
      await until("the setup", () => recorded(home, "setup"), slowMs);
      process.kill(postmasterOf(begun.process.pid), "SIGKILL");
      await until("the start", () => begun.lines.find((line) => line["is"] === "started"), slowMs);
      expect(begun.lines.filter((line) => line["is"] === "problem" && line["from"] === "postgres")).toHaveLength(1);
    },
    4 * slowMs,
  );

  it(
    "ends an API that hangs, says so, and starts it again",
    async () => {
      const { home, app } = newApp("hello");
      const system = await startProcess(home, app);
      const hung = await until("the API's record", () => recorded(home, "api"), slowMs);
      process.kill(hung, "SIGSTOP");
      const next = await until(
        "another API",
        () => [recorded(home, "api")].find((pid) => pid !== null && pid !== hung) ?? null,
        slowMs,
      );
      expect(next).not.toBe(hung);
      expect(system.lines).toContainEqual(expect.objectContaining({ from: "api", what: "was stopped for 10 s" }));
      await until(
        "an answer",
        () =>
          fetch(`${system.api}/livez`).then(
            ({ ok }) => ok,
            () => false,
          ),
        slowMs,
      );
      await until("a finished job", () => finished(storeOf(system.database)), slowMs);
    },
    4 * slowMs,
  );

  it(
    "gives back at once what a killed worker had claimed",
    async () => {
      const { home, app } = appThatHangs();
      const system = await startProcess(home, app);
      const store = storeOf(system.database);
      const begun = await until("a job to run", () => attemptOf(store, "RUNNING"), slowMs);
      const pid = Number(begun.worker?.split(":").at(-2));
      process.kill(pid, "SIGKILL");
      // Its lease would hold it longer than that.
      const again = await until("its next try", () => attemptOf(store, "SUCCESS"), slowMs);
      expect(again).toMatchObject({ id: begun.id, attempt: 2 });
    },
    4 * slowMs,
  );
});

const attemptOf = async (store: TestStore, state: State): Promise<JobView | null> =>
  (await store.jobs({ states: [state] }))[0] ?? null;

/** An app whose one job never ends in its first try. */
function appThatHangs(): { home: string; app: URL } {
  const home = freshFolder();
  const file = join(freshFolder(), "app.ts");
  writeFileSync(
    file,
    `import { defineApp, defineJob, defineSchedule } from ${JSON.stringify(new URL("../../src/compose/index.ts", import.meta.url).href)};
const hang = defineJob({ id: "hang", timeout: "10m", lease: "10m", run: (_, ctx) => (ctx.attempt === 1 ? new Promise(() => {}) : null) });
const once = defineSchedule({ id: "hang-hourly", every: "2s", run: hang, overlap: "skip" });
export default [defineApp({ name: "hanging", schedules: [once] })];
`,
  );
  return { home, app: pathToFileURL(file) };
}

/** The pid of the process that runs under this name. */
function recorded(home: string, name: string): number | null {
  const folder = join(home, "processes");
  for (const file of filesOf(folder)) {
    try {
      const record = JSON.parse(readFileSync(join(folder, file), "utf8")) as {
        name: string;
        identity: { pid: number };
      };
      if (record.name === name) return record.identity.pid;
    } catch {
      // It is being written, or has just gone.
    }
  }
  return null;
}

function filesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function postmasterOf(main: number | undefined): number {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const [, parent] = /\) \w (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
      if (Number(parent) === main && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("postgres"))
        return Number(pid);
    } catch {
      // It has ended.
    }
  }
  throw new Error("no Postgres of this system runs");
}
