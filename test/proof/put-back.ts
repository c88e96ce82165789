import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type RunningPostgres, startPostgres } from "../../src/local/services/postgres.ts";
import type { EnqueueItem } from "../../src/machine/client.ts";
import { copyData } from "../support/standby.ts";
import { databaseAt, sql } from "./database.ts";
import type { Hunted } from "./hunted.ts";
import type { LedgerRecord } from "./ledger.ts";
import type { History } from "./process-log.ts";
import type { Checklist } from "./proof.ts";
import { preload, type System } from "./system.ts";
import { letPass } from "./until.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
export const run = promisify(execFile);

/** Runs the commands of Belfry that this section of the runbook names, in its order. @returns what they said. */
export async function runbook(section: string, url: string): Promise<string> {
  const text =
    readFileSync(join(root, "docs/runbook.md"), "utf8").split(`\n## ${section}\n`)[1]?.split("\n## ")[0] ?? "";
  const commands = [...text.matchAll(/^npx belfry (.+)$/gm)].flatMap(([, args]) => (args === undefined ? [] : [args]));
  if (commands.length === 0) throw new Error(`docs/runbook.md has no command in "${section}"`);
  let said = "";
  for (const args of commands) {
    const { stdout } = await run(process.execPath, [join(root, "bin/belfry.mjs"), ...args.split(" ")], {
      cwd: root,
      env: { ...process.env, DATABASE_URL: url, NODE_OPTIONS: preload },
    });
    said += stdout;
  }
  return said;
}

export class Servers {
  readonly #all: RunningPostgres[] = [];

  async start(folder: string, settings: Readonly<Record<string, string>> = {}, port = 0): Promise<RunningPostgres> {
    const server = await startPostgres({
      folder,
      port,
      settings: { synchronous_commit: "off", wal_keep_size: "256MB", ...settings },
    });
    this.#all.push(server);
    return server;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all.map((server) => server.stop("immediate")));
  }
}

/** What a process was answered, or a handler called. */
type Done = Pick<LedgerRecord, "at" | "pid" | "job" | "attempt">;
const tryOf = ({ pid, job, attempt }: Done): string => `${pid}/${job}/${attempt}`;
const doneIn = (line: History): readonly Done[] =>
  line.history === "fence" ? [] : [{ ...line, at: performance.timeOrigin + line.atMs }];

const settings = { synchronous_commit: "on", track_commit_timestamp: "on", max_connections: "400" };

const jobsIn = async (url: string): Promise<readonly string[]> =>
  (await sql<{ id: string }>(url, "select id::text from belfry.job")).map(({ id }) => id);

/** Between a copy of the disks and the moment when it takes their place, on a server of the case's own. */
export class LostTime extends Servers {
  readonly #folder: string;
  readonly #calls: [kind: string, items: readonly EnqueueItem[]][] = [];
  readonly #marks: number[] = [];
  #server: RunningPostgres | null = null;
  #lost: readonly string[] = [];

  constructor(folder: string) {
    super();
    this.#folder = folder;
  }

  /** @returns the address of the server, which stays. */
  async startOn(disks: "live" | "copy"): Promise<string> {
    this.#server = await this.start(join(this.#folder, disks), settings, this.#server?.port);
    return this.#server.url;
  }

  /** The same, with the calls of its clients kept. */
  watched(system: System): System {
    const enqueue: System["enqueue"] = (kind, items) => {
      this.#calls.push([kind, items]);
      return system.enqueue(kind, items);
    };
    return { ...system, enqueue };
  }

  /** The clients make the calls again that are lost. No process reaches the copy before the runbook's command. */
  async pass({ system, away }: Pick<Hunted, "system" | "away">, during: () => Promise<unknown>): Promise<void> {
    const before = { calls: this.#calls.length, asked: system.asked.length };
    const [live, copy] = [join(this.#folder, "live"), join(this.#folder, "copy")];
    await away(() => this.#again("live", async () => void copyData(live, copy)));
    await during();
    const ids = await jobsIn(system.databaseUrl);
    const restore = async (): Promise<void> => {
      const aside = await this.start(copy, settings);
      const url = databaseAt(aside, new URL(system.databaseUrl).pathname);
      const kept = new Set(await jobsIn(url));
      this.#lost = ids.filter((id) => !kept.has(id));
      await runbook("Restore from backup", url);
      await aside.stop();
    };
    await away(() => this.#again("copy", restore));
    system.asked.splice(before.asked);
    for (const [kind, items] of this.#calls.splice(before.calls)) await system.enqueue(kind, items);
  }

  async #again(disks: "live" | "copy", whileAway: () => Promise<void>): Promise<void> {
    await this.#server?.stop();
    // A process may still have to say what it was answered before.
    await letPass(500);
    this.#marks.push(Date.now());
    await whileAway();
    await this.startOn(disks);
  }

  /**
   * Of a try that a process claimed in that time nothing counts, also where it claims the same one again; of any other what was done
   * in it does not.
   */
  async judged(list: Checklist, { processes, databaseUrl }: System) {
    const [from = NaN, upto = NaN] = this.#marks;
    const tries = (history: History["history"], since: number, until: number): Set<string> => {
      const lines = processes.histories.filter((line) => line.history === history).flatMap(doneIn);
      return new Set(lines.filter(({ at }) => at >= since && at < until).map(tryOf));
    };
    const [gone, ended] = [tries("claimed", from, upto), tries("settled", 0, from)];
    const open = [...tries("claimed", 0, from)].filter((each) => !ended.has(each));
    const isLost = (done: Done): boolean => done.at >= from && (done.at < upto || gone.has(tryOf(done)));
    list.expect("jobs were lost", this.#lost.length > 0);
    const ids = new Set(await jobsIn(databaseUrl));
    list.expectNone(
      "no job has the id of one that is lost, nor its effect keys",
      this.#lost.filter((id) => ids.has(id)),
    );
    return {
      isLost: (one: Done | History) => ("history" in one ? doneIn(one) : [one]).some(isLost),
      /** Jobs whose end may be lost: they may run again. */
      open: open.flatMap((key) => key.split("/")[1] ?? []),
    };
  }

  readonly seen = (): string => `, ${this.#lost.length} jobs lost`;
}
