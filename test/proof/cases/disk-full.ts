import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import nodemailer from "nodemailer";
import { startApi } from "../../../src/local/api-process.ts";
import { keepPostgres } from "../../../src/local/services/kept-postgres.ts";
import { sql } from "../database.ts";
import type { Checklist, Proof, ProofContext } from "../proof.ts";
import { preload, startInstalled } from "../system.ts";
import { ownStart, withPassword } from "../../support/local-start.ts";
import { mountSmallDisk, type SmallDisk } from "../tmpfs.ts";
import { elapsedMs, letPass, until } from "../until.ts";

const megabytes = 400;
const fullMs = 15_000;
/** Small, so that what fills the disk is the case's own file and not the server's log of changes. */
const settings = { max_connections: "200", max_wal_size: "64MB", min_wal_size: "32MB" };

/** The disk of the database is full, then that of a whole local system. */
export const diskFull: Proof = {
  name: "disk-full",
  about: "a real full disk, of the database and of npm start: 503 store-full, no process dies of it, nothing is lost",
  guards: ["full-code", "log-error"],
  async run(context, list) {
    const reasons: string[] = [];
    const disk = mountSmallDisk(megabytes, (reason) => reasons.push(reason));
    if (disk === null) return { pass: true, isSkipped: true, detail: reasons.join() };
    try {
      await ofDatabase(list, context, disk);
      await ofNpmStart(list, context, disk);
    } finally {
      disk.remove();
    }
    return list.verdict();
  },
};

async function ofDatabase(list: Checklist, context: ProofContext, disk: SmallDisk): Promise<void> {
  const deaths: string[] = [];
  const folder = join(disk.folder, "database");
  const postgres = await keepPostgres({ folder, port: 0, settings }, (error) => deaths.push(String(error)));
  try {
    const system = await startInstalled({ ...context, postgresUrl: postgres.url }, { app: "noted" });
    const api = await startApi({ children: system.processes, env: system.env, ports: [0] });
    const work = system.work({ everyMs: 1_000 });
    const caller = callOf(api.url);
    await callFor(caller, 2_000);
    disk.fill();
    await callFor(caller, fullMs);
    const ready = await fetch(`${api.url}/readyz`).then(({ status }) => status);
    list.expectIs("database: /readyz is not ready while the disk is full", ready, 503);
    disk.free();
    const freedMs = elapsedMs();
    await until("an enqueue to be taken again", 60_000, () => caller.post());
    list.figure(`database: the first answer ${Math.round(elapsedMs() - freedMs)} ms after space was back`);
    await allRun(list, "database", caller.acknowledged, () => states(system.databaseUrl));
    assessAnswers(list, "database", caller.answers);
    list.expect("database: a full disk is answered with its code", (caller.answers.get("503 store-full") ?? 0) > 0);
    list.figure(`database: died ${deaths.length} times`);
    await api.stop();
    await work.stop();
    await system.stop();
  } finally {
    await postgres.stop("immediate");
  }
}

async function ofNpmStart(list: Checklist, context: ProofContext, disk: SmallDisk): Promise<void> {
  const home = join(disk.folder, "home");
  // Others may enter it, so that Postgres keeps its data inside.
  mkdirSync(home, { mode: 0o755 });
  const { PATH, HOME, TZ } = process.env;
  const { without } = context;
  const main = ownStart({
    PATH,
    HOME,
    TZ,
    BELFRY_HOME: home,
    BELFRY_APPS: new URL("../app/noted.ts", import.meta.url).href,
    ...(without === null ? {} : { NODE_OPTIONS: preload, BELFRY_PROOF_WITHOUT: without }),
  });
  try {
    const { api, database, mail } = await main.urls(90_000);
    const caller = callOf(api);
    await callFor(caller, 2_000);
    const sent = await mailTo(mail);
    list.expectIs("npm start: a mail is taken", sent, "taken");
    disk.fill();
    await callFor(caller, fullMs);
    const refused = await mailTo(mail);
    list.expect("npm start: a mail that cannot be kept is refused", refused !== "taken", refused);
    list.expect("npm start: it runs on", main.process.exitCode === null && main.process.signalCode === null);
    disk.free();
    const freedMs = elapsedMs();
    await until("an enqueue to be taken again", 90_000, () => caller.post());
    list.figure(`npm start: the first answer ${Math.round(elapsedMs() - freedMs)} ms after space was back`);
    await allRun(list, "npm start", caller.acknowledged, () => states(withPassword(database, home)));
    assessAnswers(list, "npm start", caller.answers);
    const again = await mailTo(mail);
    list.expectIs("npm start: a mail is taken again", again, "taken");
    const said = main.lines.filter((line) => /cannot be written .* MB free in /.test(line.what ?? ""));
    list.expect("npm start: it says which file cannot be written, and the free space", said.length > 0);
    list.figure(
      `npm start: said ${said.length} times; ${main.errors.length} lines of stderr: ${main.errors.slice(0, 2).join(" ")}`,
    );
  } finally {
    disk.free();
    await Promise.race([main.stop(), letPass(40_000)]);
    main.process.kill("SIGKILL");
  }
}

interface Caller {
  /** Keys whose enqueue was answered with 2xx. */
  readonly acknowledged: readonly string[];
  /** How many there were of each status and code. */
  readonly answers: ReadonlyMap<string, number>;
  /** @returns whether it was taken. */
  post(): Promise<boolean>;
}

function callOf(api: string): Caller {
  const acknowledged: string[] = [];
  const answers = new Map<string, number>();
  let made = 0;
  return {
    acknowledged,
    answers,
    async post() {
      const key = `k${(made += 1)}`;
      const body = JSON.stringify({
        kind: "noted",
        key,
        payload: { n: made, pad: randomBytes(6_000).toString("base64") },
      });
      const headers = { "content-type": "application/json" };
      const response = await fetch(`${api}/jobs`, { method: "POST", headers, body }).catch(() => null);
      const answer = response === null ? "no answer" : await answerOf(response);
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
      if (response?.ok === true) acknowledged.push(key);
      return response?.ok === true;
    },
  };
}

/** For example `201`, or `503 store-full`. */
async function answerOf(response: Response): Promise<string> {
  const { code = "" } = (await response.json().catch(() => ({}))) as { code?: string };
  return response.ok ? String(response.status) : `${response.status} ${code}`;
}

async function callFor(caller: Caller, ms: number): Promise<void> {
  const untilMs = elapsedMs() + ms;
  while (elapsedMs() < untilMs) {
    await caller.post();
    // The rate of the calls.
    await letPass(20);
  }
}

function assessAnswers(list: Checklist, what: string, answers: Caller["answers"]): void {
  const odd = [...answers.keys()].filter((answer) => !/^(20[01]|503 (store|outcome)-\w+)$/.test(answer));
  list.expectNone(`${what}: each answer is 2xx or a 503 of the store`, odd);
  list.expect(
    `${what}: some were refused`,
    [...answers.keys()].some((answer) => answer.startsWith("503")),
  );
  list.figure(`${what}: ${[...answers].map(([answer, n]) => `${n} x ${answer}`).join(", ")}`);
}

async function allRun(
  list: Checklist,
  what: string,
  keys: readonly string[],
  read: () => Promise<ReadonlyMap<string, string>>,
): Promise<void> {
  let seen: ReadonlyMap<string, string> = new Map();
  await until("all that was acknowledged to run", 120_000, async () => {
    seen = await read().catch(() => new Map<string, string>());
    return keys.every((key) => seen.get(key) === "SUCCESS");
  }).catch(() => false);
  const lost = keys.filter((key) => seen.get(key) !== "SUCCESS");
  list.expectNone(`${what}: each acknowledged job succeeds`, lost, (key) => `${key} ${seen.get(key) ?? "is gone"}`);
  list.figure(`${what}: ${keys.length} acknowledged`);
}

async function states(databaseUrl: string): Promise<ReadonlyMap<string, string>> {
  const jobs = "select key, state from belfry.job where kind = 'noted'";
  const rows = await sql<{ key: string; state: string }>(databaseUrl, jobs);
  return new Map(rows.map(({ key, state }) => [key, state]));
}

/** @returns `taken`, or why it was not. */
async function mailTo(url: string): Promise<string> {
  const transport = nodemailer.createTransport({ url, connectionTimeout: 5_000, socketTimeout: 5_000 });
  try {
    await transport.sendMail({ from: "a@example.com", to: "b@example.com", text: "x".repeat(20_000) });
    return "taken";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    transport.close();
  }
}
