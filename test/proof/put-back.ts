import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type RunningPostgres, startPostgres } from "../../src/local/services/postgres.ts";
import { copyData } from "../support/standby.ts";
import { databaseAt } from "./database.ts";
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

/** A case's own server. Its disks are copied, and the copy takes its place, under one address. */
export async function startOwnServer(folder: string) {
  const settings = { synchronous_commit: "on", track_commit_timestamp: "on", max_connections: "400" };
  const servers = new Servers();
  const live = join(folder, "live");
  const copy = join(folder, "copy");
  let server = await servers.start(live, settings);
  const { url, port } = server;
  return {
    url,
    stop: () => servers.stop(),
    async copy(whileAway: () => Promise<void>): Promise<void> {
      await server.stop();
      copyData(live, copy);
      await whileAway();
      server = await servers.start(live, settings, port);
    },
    /** No process reaches the copy before the runbook's command. */
    async putBack(database: string, whileAway: () => Promise<void>): Promise<void> {
      await server.stop();
      await whileAway();
      const aside = await servers.start(copy, settings);
      await runbook("Restore from backup", databaseAt(aside, database));
      await aside.stop();
      server = await servers.start(copy, settings, port);
    },
  };
}

/** What a case knows of the time that its database has lost. */
export interface Lost {
  /** What processes were answered in it, and later for a try that was claimed in it: no row knows of that. */
  readonly lines: ReadonlySet<History>;
  /** The same of what handlers called. */
  readonly isCall: (record: LedgerRecord) => boolean;
  /** Their try ran when it began, and may have ended in it: they may run again. */
  readonly open: ReadonlySet<string>;
}

/** Between the copy and the moment when it takes the server's place: what was written then is lost. */
export class LostTime {
  readonly #system: System;
  readonly #marks: { readonly line: number; readonly at: number }[] = [];
  #seen = "";

  constructor(system: System) {
    this.#system = system;
  }

  /** While the database is away, at either end. A process may still have to say what it was answered before. */
  async mark(): Promise<void> {
    await letPass(500);
    this.#marks.push({ line: this.#system.processes.histories.length, at: Date.now() });
  }

  /** Just before it ends. */
  async count(): Promise<void> {
    const { count, queues, depth } = this.#system;
    const jobs = await count("belfry.job where created_at > to_timestamp($1)", [(this.#marks[0]?.at ?? 0) / 1_000]);
    const depths = await Promise.all(queues.map(({ url }) => depth(url)));
    const messages = depths.reduce((sum, { visible, inFlight }) => sum + visible + inFlight, 0);
    this.#seen = `${jobs} jobs lost, ${messages} messages out then`;
  }

  /** Also looks that no key of an effect has named two things. */
  judged(list: Checklist): Lost {
    const [from, upto] = this.#marks;
    if (from === undefined || upto === undefined) throw new Error("no time was lost");
    const lines = new Set<History>();
    const claimed = new Set<string>();
    const open = new Map<string, string>();
    const tryOf = ({ pid, job, attempt }: Pick<LedgerRecord, "pid" | "job" | "attempt">): string =>
      `${pid}/${job}/${attempt}`;
    for (const [n, line] of this.#system.processes.histories.entries()) {
      if (line.history === "fence") continue;
      const key = tryOf(line);
      if (n < from.line) {
        if (line.history === "claimed") open.set(key, line.job);
        else if (line.history === "settled") open.delete(key);
      } else if (n < upto.line) {
        lines.add(line);
        if (line.history === "claimed") claimed.add(key);
      } else if (line.history === "claimed") claimed.delete(key);
      else if (claimed.has(key)) lines.add(line);
    }
    list.expectNone(
      "an effect's key names one effect, also of the time that is lost",
      [...Map.groupBy(this.#system.ledger.read(), ({ key }) => key)].flatMap(([key, records]) => {
        const notes = new Set(records.map(({ note }) => note));
        return notes.size > 1 ? [`${key}: ${[...notes].join(" and ")}`] : [];
      }),
    );
    return {
      lines,
      isCall: (record) => record.at >= from.at && (record.at < upto.at || claimed.has(tryOf(record))),
      open: new Set(open.values()),
    };
  }

  seen(): string {
    return this.#seen;
  }
}
