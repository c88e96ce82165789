import { rmSync } from "node:fs";
import { join } from "node:path";
import { startApi } from "../../../src/local/api-process.ts";
import { type RunningPostgres, startPostgres } from "../../../src/local/services/postgres.ts";
import { baseCopy, startStandby } from "../../support/standby.ts";
import { steadySql } from "../app/steady.ts";
import { databaseAt, sql } from "../database.ts";
import { type Checklist, type Proof, seeded } from "../proof.ts";
import { startInstalled } from "../system.ts";
import { elapsedMs, holds, letPass, until } from "../until.ts";
import { startWire, type Wire } from "../wire.ts";

const settings = { max_connections: "200", wal_keep_size: "512MB" };
const inRecoveryMs = 3_000;
const healthyMsMax = 10_000;
const afterMs = 5_000;
const pages = ["/summary", "/jobs?limit=20", "/schedules", "/health"];
const clients = 4;

interface Answer {
  readonly atMs: number;
  readonly what: string;
  readonly status: number;
}

interface Served {
  readonly folder: string;
  readonly server: RunningPostgres;
}

/** The name of the database leads to a server in recovery, which then takes writes: after a failover, and after a restore in time. */
export const promote: Proof = {
  name: "promote",
  about: "a standby is promoted and a restore in time ends under load: only 2xx and 503, healthy within 10 s",
  guards: ["outside-transaction"],
  async run(context, list) {
    const servers: RunningPostgres[] = [];
    const started = (folder: string, server: RunningPostgres): Served => {
      servers.push(server);
      return { folder, server };
    };
    const folderOf = (name: string): string => join(context.folder, name);
    const primary = started(
      folderOf("primary"),
      await startPostgres({ folder: folderOf("primary"), port: 0, settings }),
    );
    const wire = await startWire(primary.server.url, seeded(context.seed));
    try {
      const system = await startInstalled(
        { ...context, postgresUrl: primary.server.url },
        { app: "steady", postgresPort: wire.port, sql: steadySql },
      );
      const name = new URL(system.databaseUrl).pathname;
      const work = system.work({ everyMs: 1_000 });
      const api = await startApi({ children: system.processes, env: system.env, ports: [0] });
      const load = await startCalls(api.url);
      await until("the first answers", 60_000, () => load.created.size > 20);

      const standby = started(folderOf("standby"), await startStandby(primary, folderOf("standby"), settings));
      const { created } = load;
      const before = new Set(created);
      await change(list, { what: "a standby", wire, load, from: primary, to: standby, end: "select pg_promote()" });
      const kept = await keysAt(standby.server, name);
      list.expectNone(
        "no job that was answered before is lost",
        [...before].filter((key) => !kept.has(key)),
      );

      await baseCopy(standby, folderOf("restored"), "recovery.signal");
      await letPass(1_000);
      await sql(standby.server.url, "select pg_create_restore_point('before')");
      await sql(standby.server.url, "select pg_switch_wal()");
      const restored = started(
        folderOf("restored"),
        await startPostgres({
          folder: folderOf("restored"),
          port: 0,
          settings: {
            ...settings,
            restore_command: `cp ${standby.server.dataFolder}/pg_wal/%f %p`,
            recovery_target_name: "before",
            recovery_target_action: "pause",
          },
        }),
      );
      const end = "select pg_wal_replay_resume()";
      await change(list, { what: "a restore in time", wire, load, from: standby, to: restored, end });
      await load.stop();
      const open = "select count(*)::int as n from belfry.job where state < 'SUCCESS'";
      const isDrained = until("all jobs to end", 120_000, async () => {
        const [row] = await sql(databaseAt(restored.server, name), open);
        return row?.["n"] === 0;
      });
      list.expect("all jobs end", await holds(isDrained));
      await work.stop();
      await api.stop();
      list.figure(`${load.answers.length} answers, ${load.answers.filter(isAway).length} of them 503`);
      await system.stop();
    } finally {
      await wire.stop();
      for (const server of servers) {
        await server.stop("immediate");
        rmSync(server.dataFolder, { recursive: true, force: true });
      }
    }
  },
};

const isAway = ({ status }: Answer): boolean => status === 503;
const isWell = ({ status }: Answer): boolean => status >= 200 && status < 300;

interface Change {
  readonly what: string;
  readonly wire: Wire;
  readonly load: Calls;
  readonly from: Served;
  readonly to: Served;
  /** Ends the recovery of the new server. */
  readonly end: string;
}

async function change(list: Checklist, { what, wire, load, from, to, end }: Change): Promise<void> {
  const beganAt = load.answers.length;
  await from.server.stop("fast");
  wire.leadTo(to.server.port);
  // The name leads to a server in recovery.
  await letPass(inRecoveryMs);
  const recovering = load.answers.slice(beganAt);
  list.expect(`${what} refuses writes with 503 while it recovers`, recovering.some(isAway));
  await sql(to.server.url, end);
  const endedMs = elapsedMs();
  const isWritten = until("a write", healthyMsMax, () =>
    load.answers.some((answer) => answer.atMs > endedMs && answer.what === "POST /jobs" && isWell(answer)),
  );
  list.expect(`${what}: a write succeeds within 10 s of its promotion`, await holds(isWritten));
  await letPass(Math.max(0, healthyMsMax - (elapsedMs() - endedMs)));
  const healthyAt = load.answers.length;
  // Long enough for each pooled connection to be used again.
  await letPass(afterMs);
  const after = load.answers.slice(healthyAt);
  const named = (answers: readonly Answer[]): readonly string[] =>
    answers.map((answer) => `${answer.what}: ${answer.status}`);
  list.expect(`${what}: calls are answered afterwards`, after.length > 20, after.length);
  list.expectNone(`${what}: 10 s later every answer is 2xx`, named(after.filter((answer) => !isWell(answer))));
  const wrong = load.answers.slice(beganAt).filter((answer) => !isWell(answer) && !isAway(answer));
  list.expectNone(`${what}: no answer but 2xx and 503`, named(wrong));
  const first = load.answers.find((answer) => answer.atMs > endedMs && answer.what === "POST /jobs" && isWell(answer));
  if (first !== undefined) list.figure(`${what}: first write after ${Math.round(first.atMs - endedMs)} ms`);
}

interface Calls {
  readonly answers: readonly Answer[];
  /** Keys whose POST was answered with 2xx. */
  readonly created: ReadonlySet<string>;
  stop(): Promise<void>;
}

/** Clients that post a job and read a route in turns, all the time. */
async function startCalls(url: string): Promise<Calls> {
  const { cursor } = (await (await fetch(`${url}/events`)).json()) as { cursor: string };
  const reads = [...pages, `/events?cursor=${encodeURIComponent(cursor)}`];
  const answers: Answer[] = [];
  const created = new Set<string>();
  const over = new AbortController();
  let n = 0;
  const call = async (what: string, path: string, init: RequestInit = {}): Promise<boolean> => {
    // A call that the API's own process does not answer has status 0, which is no 503.
    const status = await fetch(`${url}${path}`, init).then(
      async (response) => {
        await response.arrayBuffer();
        return response.status;
      },
      () => 0,
    );
    answers.push({ atMs: elapsedMs(), what, status });
    return status >= 200 && status < 300;
  };
  const client = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const key = `call-${(n += 1)}`;
      const body = JSON.stringify({ kind: "calls", key, payload: { n } });
      const headers = { "content-type": "application/json" };
      if (await call("POST /jobs", "/jobs", { method: "POST", headers, body })) created.add(key);
      const path = reads[n % reads.length] ?? "/summary";
      await call(`GET ${path.replace(/\?.*/, "")}`, path);
      await letPass(50);
    }
  };
  const running = Promise.all(Array.from({ length: clients }, client));
  return {
    answers,
    created,
    async stop() {
      over.abort();
      await running;
    },
  };
}

const keysAt = async (server: RunningPostgres, name: string): Promise<ReadonlySet<unknown>> =>
  new Set((await sql(databaseAt(server, name), "select key from belfry.job")).map((row) => row["key"]));
